"""Put a folder in the place of another in one step: there is one of them at every moment."""

from __future__ import annotations

import ctypes
import errno
import os
from pathlib import Path

AT_FDCWD = -100
RENAME_EXCHANGE = 2
# Filesystems and kernels that cannot exchange two names say one of these.
_UNABLE = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


def swap_in(new: Path, place: Path) -> Path | None:
    """Let `new` stand at `place`; return where the folder is now that stood there, if one did.

    Both must be on one filesystem. Raises OSError, and then everything is where it was.
    """
    if not place.exists():
        new.rename(place)
        return None
    try:
        _exchange(new, place)
    except OSError as error:
        if error.errno not in _UNABLE:
            raise
        return _by_two_renames(new, place)
    return new


def _exchange(one: Path, other: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    try:
        rename = libc.renameat2
    except AttributeError:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS)) from None
    if rename(AT_FDCWD, os.fsencode(one), AT_FDCWD, os.fsencode(other), RENAME_EXCHANGE) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), str(other))


def _by_two_renames(new: Path, place: Path) -> Path:
    old = new.with_name(f"{new.name}.old")
    place.rename(old)
    try:
        new.rename(place)
    except OSError:
        old.rename(place)
        raise
    return old
