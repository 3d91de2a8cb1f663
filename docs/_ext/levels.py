"""Captions of the table of contents are headings, and say of which level: screen readers need it."""

from typing import Any

from sphinx.application import Sphinx

_TREE = "furo_navigation_tree"


def add_levels(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Give every caption a level, below the title of the page."""
    if _TREE in context:
        context[_TREE] = context[_TREE].replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: Sphinx) -> dict[str, bool]:
    """Come after the theme, which makes the tree."""
    app.connect("html-page-context", add_levels, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
