"""Private metrics in NVFlare: filters of the site's own, a count on the server, and a job recipe.

A site names the filters in its own ``privacy.json``.  A job that comes from elsewhere cannot leave them out, but by
code of its own that changes NVFlare in memory: what a job measures becomes one answer to a study, and what it would
send beside its tasks' results does not leave.
"""

from typing import TYPE_CHECKING

from fairgauge.errors import MissingExtra
from fairgauge.lazy import lazily

try:
    import nvflare  # noqa: F401 - asked for here, so that a missing extra is one sentence
except ImportError:
    raise MissingExtra("private metrics in NVFlare need nvflare", "nvflare") from None

if TYPE_CHECKING:
    from fairgauge.nvflare.answer_collector import AnswerCollector
    from fairgauge.nvflare.recipe import PrivateMetricsRecipe
    from fairgauge.nvflare.site import AnswerFilter, SiteGuard, StudyFilter

__all__ = ["AnswerCollector", "AnswerFilter", "PrivateMetricsRecipe", "SiteGuard", "StudyFilter"]

# A site does not pay for the server's part.
__getattr__, __dir__ = lazily(
    __name__,
    {
        "AnswerCollector": "answer_collector",
        "AnswerFilter": "site",
        "PrivateMetricsRecipe": "recipe",
        "SiteGuard": "site",
        "StudyFilter": "site",
    },
)
