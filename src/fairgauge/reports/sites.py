"""Sentences about studies for sites that hold many people."""

import math

from fairgauge.study import Site


def protection_sentence(site: Site) -> str:
    """Return what a site's noise means to one of its people, and what it does not hide."""
    factor = math.ceil(math.exp(float(site.epsilon)) * 100) / 100
    per = "one record" if site.records == 1 else f"up to {site.records} records"
    return (
        f"Privacy: whoever sees a site's counts can change their odds about any one person there, with {per} each, by "
        f"at most a factor {factor:.2f} (epsilon {site.epsilon}). The site itself sees its own records; that it takes "
        "part, and how large it is to within the noise, is not hidden."
    )
