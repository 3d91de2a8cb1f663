"""``python -m fairgauge.client``: the same as ``fairgauge answer``."""

import sys

from fairgauge.client.command import main

if __name__ == "__main__":
    sys.exit(main())
