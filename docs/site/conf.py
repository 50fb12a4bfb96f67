"""The site: `make docs` builds it into build/site, to be opened from there without a server.

The source folder is the project's root, so that a link between two pages is right here and on the project's host.
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import rosenblatt  # noqa: E402

project = "rosenblatt"
author = "The rosenblatt developers"
copyright = author
version = release = rosenblatt.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "site_pages"]
root_doc = "docs/index"
include_patterns = [
    "docs/**",
    "benchmarks/README.md",
    "benchmarks/RESULTS.md",
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
]
exclude_patterns = [".*", "build", "dist", "node_modules", "docs/site"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["deflist"]
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_ivar = True
napoleon_custom_sections = ["Update", "Bound", "Cost"]

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
