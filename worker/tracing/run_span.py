"""The span of a whole run, made when it is over: in a child, since the launcher runs nobody's code.

Attempts have traces of their own; `nightshift.run.id` is what they have in common with their run.
"""

from __future__ import annotations

import logging
import os
import signal
import time
from collections.abc import Mapping

from worker import log
from worker.system.fork import fork
from worker.system.standard_streams import STDERR
from worker.tracing import provider

# The user's set-up, the span and the flush: what takes longer is killed, and the run ends.
MAX_SECONDS = 10.0
POLL_SECONDS = 0.02

logger = logging.getLogger("nightshift.tracing")


def send(how: str, run_id: int, began_at: int, facts: Mapping[str, int | str]) -> None:
    """Send the span of a run that ended just now; what fails there changes nothing.

    `began_at` is in nanoseconds, as spans have their times.
    """
    try:
        # Whatever it prints is no data: the launcher's stdout is for the summary.
        pid = fork(lambda: _main(how, run_id, began_at, facts), output=STDERR)
    except OSError as error:
        logger.warning("the run's span could not be sent: %s", error)
        return
    deadline = time.monotonic() + MAX_SECONDS
    while not os.waitpid(pid, os.WNOHANG)[0]:
        if time.monotonic() >= deadline:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(POLL_SECONDS)


def _main(how: str, run_id: int, began_at: int, facts: Mapping[str, int | str]) -> int:
    log.configure("launcher", logging.WARNING)
    tracer = provider.set_up(how)
    if tracer is None:
        return 1
    from opentelemetry import context
    from opentelemetry.trace import StatusCode

    named = {name: value for name, value in facts.items() if value != ""}
    span = tracer.start_span(
        "run",
        context=context.Context(),
        start_time=began_at,
        attributes={"nightshift.run.id": run_id, **named},
    )
    if facts.get("process.exit.code"):
        span.set_status(StatusCode.ERROR)
    span.end()
    provider.flush()
    return 0
