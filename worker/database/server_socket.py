"""Where the private server is reached: a unix socket that only the folder's owner can open."""

from __future__ import annotations

import hashlib
import os
import socket
from pathlib import Path

from worker.errors import DatabaseUnavailable

NAME = "mysql.sock"
MAX_PATH_BYTES = 107
GREETING_SECONDS = 2.0


def path_for(folder: Path) -> Path:
    """Say where the socket of a server folder is: in it, or in a short one if that is too long."""
    inside = folder / NAME
    if len(os.fsencode(inside)) <= MAX_PATH_BYTES:
        return inside
    # Not tempfile.gettempdir(): every process must find the same path, whatever its TMPDIR.
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return Path("/tmp") / f"nightshift-{os.getuid()}-{digest}" / NAME  # noqa: S108


def prepare(folder: Path) -> None:
    """Make the short socket folder ours alone, and leave a link to it where one would look."""
    path = path_for(folder)
    if path.parent == folder:
        return
    path.parent.mkdir(mode=0o700, exist_ok=True)
    found = path.parent.lstat()
    if path.parent.is_symlink() or found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise DatabaseUnavailable(
            f"{path.parent} should hold the private server's socket, but others can reach it; "
            "remove it and try again"
        )
    link = folder / NAME
    link.unlink(missing_ok=True)
    link.symlink_to(path)


def answers(path: Path) -> bool:
    """Connect and read the server's greeting: a socket that accepts may still say nothing."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(GREETING_SECONDS)
        try:
            client.connect(str(path))
            return len(client.recv(5)) == 5
        except OSError:
            return False
