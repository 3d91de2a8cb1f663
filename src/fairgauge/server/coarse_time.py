"""Time in buckets: whatever is stored or logged says the hour, never the second (unless set otherwise)."""

from datetime import UTC, datetime


def bucket_of(now: float, seconds: int) -> int:
    """Return the first second of the bucket that a moment is in.

    >>> bucket_of(7322.9, 3600)
    7200
    """
    return int(now // seconds) * seconds


def moment_of(second: int) -> str:
    """Return a moment as study documents write it.

    >>> moment_of(0)
    '1970-01-01T00:00:00Z'
    """
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def seconds_of(moment: str) -> float:
    """Return a study's moment in seconds.

    >>> seconds_of("1970-01-01T01:00:00Z")
    3600.0
    """
    return datetime.fromisoformat(moment).timestamp()
