"""Sphinx settings. The pages build without a network and look the same without one."""

import sys
from pathlib import Path

import fairgauge

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "fairgauge"
author = "the fairgauge contributors"
project_copyright = f"2026, {author}"
version = release = fairgauge.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "levels", "mathml"]
exclude_patterns = ["_build", "flower", "paper", "older-people", "whitepaper"]  # parts, and a page of parts

# Pages
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
html_math_renderer = "mathml"
html_theme = "furo"
html_title = "fairgauge"
html_static_path = ["_static"]
templates_path = ["_templates"]
html_css_files = ["fairgauge.css"]
html_copy_source = False
html_show_sphinx = False
highlight_language = "none"  # a literal block is text unless it says what it is

# The reference
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_mock_imports = ["flwr", "nvflare"]  # which have environments of their own
autodoc_default_options = {"members": True}
autodoc_preserve_defaults = True
napoleon_google_docstring = True
napoleon_numpy_docstring = False
python_use_unqualified_type_names = True

# Every reference to this package must lead somewhere. Other packages' pages are on the network: their names
# are not links; nor are the names of classes that are a module's own.
nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!fairgauge\b).*"), (r"py:class", r"fairgauge\..*\._\w+")]
# What plans keep of a table is nothing that a reader of the page makes.
nitpick_ignore = [
    ("py:class", "fairgauge.estimation.estimands.Estimands"),
    ("py:class", "fairgauge.planning.contributors.Contributors"),
]
