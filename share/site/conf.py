# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Sphinx: the documents as one site.  sphinx-build -c share/site . OUT     in the top folder; Sphinx 5, MyST 0.18."""

import sys
from pathlib import Path

root = Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path[:0] = [str(root / "share/interface"), str(root / "share/site")]
import api  # noqa: E402

project = "Tide"
copyright = "2026, the Tide authors"
extensions = ["myst_parser"]
include_patterns = ["*.md", "share/**.md", "spack/README.md"]
exclude_patterns = ["build*", "b", ".*"]
root_doc = "share/site/index"
source_suffix = {".md": "markdown"}
myst_heading_anchors = 4
html_theme = "alabaster"
html_theme_options = {"page_width": "75em"}


def setup(app):
    app.connect("source-read", api.fill)
