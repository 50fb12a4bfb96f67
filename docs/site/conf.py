"""The site: `make docs` builds it into build/site, to be opened from there without a server.

The source folder is the project's root, so that a link between two pages is right here and on the project's host.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import rosenblatt  # noqa: E402

project = "rosenblatt"
author = "The rosenblatt developers"
copyright = author
version = release = rosenblatt.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.intersphinx",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "site_pages",
]
root_doc = "docs/index"
include_patterns = [
    "CODE_OF_CONDUCT.md",
    "docs/**",
    "benchmarks/README.md",
    "benchmarks/RESULTS.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [".*", "build", "dist", "node_modules", "docs/site", "docs/gallery/*.py", "docs/gallery/*.ipynb"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
highlight_language = "text"  # formulas and shell sessions; Python has doctests and fences

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
# "Attributes" as a list of fields: an ``:ivar coef_:`` would lose its underscore.
napoleon_custom_sections = ["Update", "Bound", "Cost", ("Attributes", "params_style")]

# Links into the docs of others need their inventories, so they need a network: ROSENBLATT_ONLINE=1.
intersphinx_mapping = {
    "python": ("https://docs.python.org/3", None),
    "numpy": ("https://numpy.org/doc/stable", None),
    "sklearn": ("https://scikit-learn.org/stable", None),
}
if not os.environ.get("ROSENBLATT_ONLINE"):
    intersphinx_mapping = {}

# The examples run while the site is built; an example that fails is an error.
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "docs/gallery",
    "image_scrapers": ("matplotlib", "site_pages.save_figures"),
    "filename_pattern": "/plot_",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "within_subsection_order": "FileNameSortKey",
    "write_computation_times": False,
    "min_reported_time": 3600,
}

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "furo"
html_title = "rosenblatt"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_favicon = "../../src/rosenblatt/playground/icon.svg"
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {"navigation_with_keys": True}
pygments_dark_style = "github-dark"
# Types of parameters are words ("rows and labels"), and decisions/README.md leads to its pages.
suppress_warnings = ["ref.python", "toc.not_included"]
