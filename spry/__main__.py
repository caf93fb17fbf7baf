"""``python -m spry`` is the ``spry`` command."""

import sys

from spry.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
