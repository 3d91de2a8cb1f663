"""Ask an agent for an answer, from a pipeline that knows nothing of fairgauge: one line out, one line back.

    python ask.py agent.sock study.json

What it prints are about 130 bytes.  Whatever your pipeline can carry, a queue, a spreadsheet, a log line, carries them
to whoever counts: `fairgauge tally study.json answers.ndjson`.
"""

import socket
import sys
from pathlib import Path


def ask(agent: str, document: bytes) -> str:
    """Return the agent's answer to a study, as one line of JSON."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(agent)
        line.sendall(b"answer " + document + b"\n")
        said, _, rest = line.makefile("r", encoding="utf-8").readline().strip().partition(" ")
    if said != "ok":
        raise SystemExit(f"the agent gives no answer: {rest}")
    return rest


if __name__ == "__main__":
    print(ask(sys.argv[1], Path(sys.argv[2]).read_bytes().strip()))
