"""The crowd: what a published tally tells about one person, who is hidden among all who answered.

Standard library only, so that a device can compute it before it answers.
"""

from fairgauge.crowd.promise import Crowd, crowd_of, default_delta

__all__ = ["Crowd", "crowd_of", "default_delta"]
