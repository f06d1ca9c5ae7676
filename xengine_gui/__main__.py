"""`python -m xengine_gui` is `xengine`."""

import sys

from xengine_gui.cli import main

if __name__ == "__main__":
    sys.exit(main())
