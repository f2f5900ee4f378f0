"""Run `launcher.py` on a host of another name: `on_host.py NAME ARGUMENTS…`, as root.

The kernel gives this process a host name of its own; the machine id stays, as on a cloned machine.
"""

from __future__ import annotations

import ctypes
import os
import runpy
import socket
import sys
from pathlib import Path

CLONE_NEWUTS = 0x04000000

if __name__ == "__main__":
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUTS) != 0:
        sys.exit(f"no host name of one's own: {os.strerror(ctypes.get_errno())}")
    socket.sethostname(sys.argv[1])
    sys.argv = ["launcher.py", *sys.argv[2:]]
    sys.path[0] = str(Path.cwd())
    runpy.run_path("launcher.py", run_name="__main__")
