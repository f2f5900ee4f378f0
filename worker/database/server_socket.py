"""Where the private server is reached: a unix socket that only the folder's owner can open.

Whoever connects looks first whether that is still so, and then who answers: root needs no password
there, and a stranger's server would be told every job.
"""

from __future__ import annotations

import hashlib
import os
import socket
import stat
import struct
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
    check_folder(folder)
    link = folder / NAME
    link.unlink(missing_ok=True)
    link.symlink_to(path)


def check_folder(folder: Path) -> None:
    """Make sure that nobody else can put a socket there; raises DatabaseUnavailable.

    Where there is no folder there is no server either, and nothing to refuse.
    """
    place = path_for(folder).parent
    try:
        found = place.lstat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(found.st_mode) and found.st_uid in trusted_users(folder):
        if not found.st_mode & 0o077:
            return
        remedy = f"chmod 700 {place}"
    else:
        remedy = "remove it and try again"
    raise DatabaseUnavailable(
        f"{place} should hold the private server's socket, but others can reach it; {remedy}"
    )


def check_peer(connected: socket.socket, folder: Path) -> None:
    """Make sure that who answers is the owner's process; raises DatabaseUnavailable."""
    size = struct.calcsize("3i")
    credentials = connected.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size)
    pid, user, _ = struct.unpack("3i", credentials)
    if user not in trusted_users(folder):
        raise DatabaseUnavailable(
            f"{path_for(folder)} is served by process {pid} of another user (uid {user}), not by "
            "the private server; end that process and remove the socket"
        )


def trusted_users(folder: Path) -> set[int]:
    """Name the users whose server this may be: the folder's owner, ourselves, and root."""
    try:
        owner = {folder.stat().st_uid}
    except FileNotFoundError:
        owner = set()
    return {os.geteuid(), 0} | owner


def answers(folder: Path) -> bool:
    """Connect and read the server's greeting: a socket that accepts may still say nothing.

    Raises DatabaseUnavailable when it is somebody else's.
    """
    check_folder(folder)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as client:
        client.settimeout(GREETING_SECONDS)
        try:
            client.connect(str(path_for(folder)))
            check_peer(client, folder)
            return len(client.recv(5)) == 5
        except OSError:
            return False
