"""Where the supervisor's process begins: started by this file's path, with ``-I -S``.

Isolated, so that neither the current folder nor the environment decides what is imported; without the
site packages, which it does not need, because it starts in half of the time.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from inbox_loop.embedded.supervisor import main

if __name__ == "__main__":
    main(sys.argv[1:])
