"""Tell a machine that is short of something from one that is broken: the first may pass by itself.

Short of processes, memory, open files or disk. Programs that we start say so in words.
"""

from __future__ import annotations

import errno
import re

ERRNOS = frozenset(
    {
        errno.EAGAIN,
        errno.ENOMEM,
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EMFILE,
        errno.ENFILE,
    }
)
_WORDS = re.compile(
    r"\b(?:EAGAIN|ENOMEM|ENOSPC|EDQUOT|EMFILE|ENFILE)\b|Resource temporarily unavailable"
    r"|Cannot allocate memory|No space left on device|Too many open files"
)


def is_scarcity(error: BaseException) -> bool:
    """Whether one error says that the machine had not enough of something."""
    if isinstance(error, OSError) and error.errno is not None:
        return error.errno in ERRNOS
    return isinstance(error, MemoryError)


def scarcity_in(text: str) -> str | None:
    """Return the words in which another program says so, if it does."""
    found = _WORDS.search(text)
    return found.group() if found else None
