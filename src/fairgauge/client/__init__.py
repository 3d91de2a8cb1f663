"""The device's part: check a study, then answer it with one randomised symbol.  Standard library only."""

from fairgauge.client.answer import Answer, answer

__all__ = ["Answer", "answer"]
