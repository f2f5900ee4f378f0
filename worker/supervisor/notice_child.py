"""Send a notice from a child, for a limited time: whoever has something to tell never waits long.

The child says on stderr what did not arrive, masked; that changes nothing about the run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from worker.notices import sending
from worker.notices.messages import Notice
from worker.system.fork import fork, wait_for

# How the child says that some targets took it, and others did not.
SOME = 3

logger = logging.getLogger("nightshift.notify")


@dataclass(frozen=True, slots=True)
class Sent:
    """How a notice was taken: by somebody, by everybody."""

    is_taken: bool
    is_complete: bool


def send_in_child(
    urls: Sequence[str], make: Callable[[], Notice], seconds: float, *, is_quiet: bool = False
) -> Sent:
    """Make a notice and send it, within `seconds`; what went wrong is logged, unless quiet."""
    try:
        pid = fork(lambda: _send(urls, make(), is_quiet))
    except OSError as error:
        if not is_quiet:
            logger.warning("nobody was told: cannot start a process (%s)", error.strerror)
        return Sent(is_taken=False, is_complete=False)
    code = wait_for(pid, seconds)
    if code is None and not is_quiet:
        logger.warning("nobody was told within %g s", seconds)
    return Sent(is_taken=code in (0, SOME), is_complete=code == 0)


def _send(urls: Sequence[str], notice: Notice, is_quiet: bool) -> int:
    taken = 0
    for name, trouble in sending.send(urls, notice):
        if trouble is None:
            taken += 1
        elif not is_quiet:
            logger.warning("%s was not told: %s", name, trouble)
    if taken == len(urls):
        return 0
    return SOME if taken else 1
