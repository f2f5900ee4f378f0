"""Send a notice from a child, for a limited time: whoever has something to tell never waits long.

The child says on stderr what did not arrive, masked; that changes nothing about the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from worker.notices import sending
from worker.notices.messages import Notice
from worker.system.fork import fork, wait_for

logger = logging.getLogger("nightshift.notify")


def send_in_child(
    urls: Sequence[str], make: Callable[[], Notice], seconds: float, *, is_quiet: bool = False
) -> bool:
    """Make a notice and send it, within `seconds`; tell whether somebody took it."""
    try:
        pid = fork(lambda: _send(urls, make(), is_quiet))
    except OSError as error:
        if not is_quiet:
            logger.warning("nobody was told: cannot start a process (%s)", error.strerror)
        return False
    code = wait_for(pid, seconds)
    if code is None and not is_quiet:
        logger.warning("nobody was told within %g s", seconds)
    return code == 0


def _send(urls: Sequence[str], notice: Notice, is_quiet: bool) -> int:
    is_taken = False
    for name, trouble in sending.send(urls, notice):
        if trouble is None:
            is_taken = True
        elif not is_quiet:
            logger.warning("%s was not told: %s", name, trouble)
    return 0 if is_taken else 1
