"""A page that shows a perceptron learning, and what serves it on this machine or copies it to a folder.

The page is plain files without a build step: its engine (``engine/``, JavaScript without a document) equals
:mod:`rosenblatt.textbook` step by step, its views are in ``ui/``. The page loads nothing from another host.
"""

from __future__ import annotations

from rosenblatt.playground.columns import Columns, choose_columns
from rosenblatt.playground.page import export, make_server, page_address

__all__ = ["Columns", "choose_columns", "export", "make_server", "page_address"]
