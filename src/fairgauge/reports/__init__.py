"""What people read: sentences, pictures, and a report of a study in one file.

The way of an estimate to a reader, and the module that each step lives in::

    units      a metric's numbers as people say them: a recall of 0.04 is 4 points, rounded outward
      |
    words      the verdict and other sentences; the command line, the pages and the report all say the same
      |
    figures    pictures in SVG, with colours from the style sheet: light, dark or on paper
      |
    views      all of that for one question, ready for a template
      |
    templating the style sheet, and templates that nothing unescaped gets into
      |
    about      who asked whom and why, and on what the numbers rest; particulars: date, response, seal
      |
    document   the report: one HTML file that needs nothing else

``words`` needs nothing but the estimate; the pictures and the report need Jinja2.
"""

from typing import TYPE_CHECKING

from fairgauge.lazy import lazily

if TYPE_CHECKING:
    from fairgauge.reports.epsilon_choice import PlanView, plan_views, study_views
    from fairgauge.reports.html_report import Report, render_report, report

__all__ = ["PlanView", "Report", "plan_views", "render_report", "report", "study_views"]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "PlanView": "epsilon_choice",
        "Report": "html_report",
        "plan_views": "epsilon_choice",
        "render_report": "html_report",
        "report": "html_report",
        "study_views": "epsilon_choice",
    },
)
