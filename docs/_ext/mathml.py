"""Write formulas as MathML, which browsers draw themselves: no script, no fonts to fetch, no network.

docutils has the converter already; Sphinx only has to be told to use it.
"""

import re
from html import escape

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging
from sphinx.util.typing import ExtensionMetadata
from sphinx.writers.html5 import HTML5Translator

logger = logging.getLogger(__name__)

# In MathML brackets grow by themselves, so the converter does not know the commands that make them grow.
_SIZES = re.compile(r"\\[bB]igg?[lrm]?(?![a-zA-Z])")
# The converter takes 17 for the numerator of \frac17 and what follows for the denominator, and sets the h of \hat S_h
# below the S.  Both come out as other formulas, and without a word.
MISREAD = re.compile(r"\\[td]?frac\s*\d\d|\\(?:hat|tilde|bar)\s*(?:\w|\{\w+\})\}?_")


def inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a line."""
    translator.body.append(convert(node, as_block=False))
    raise nodes.SkipNode


def display(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="math" tabindex="0">{convert(node, as_block=True)}</div>\n')
    raise nodes.SkipNode


def convert(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """Convert LaTeX to MathML; a formula that cannot be converted is a warning, and so fails the build."""
    misread = MISREAD.search(node.astext())
    if misread:
        logger.warning("%r would come out as another formula: write braces", misread[0], location=node)
    try:
        return str(tex2mathml(_SIZES.sub("", node.astext()), as_block=as_block))
    except MathError as error:
        logger.warning("cannot convert %r to MathML: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def setup(app: Sphinx) -> ExtensionMetadata:
    """Register the renderer under the name ``mathml``."""
    app.add_html_math_renderer("mathml", inline_renderers=(inline, None), block_renderers=(display, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
