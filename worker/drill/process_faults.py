"""Faults of single processes: killed, or stopped and woken again."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

from worker.drill import targets
from worker.drill.strike import NoTarget, Strike, required
from worker.system.process_tree import ProcessId, is_alive, kill, kill_group

# The launcher has to end what stands still by itself; after this long it has failed to.
STOPPED_SECONDS = 25.0


def kill_worker(strike: Strike) -> None:
    worker = strike.worker()
    strike.begin(worker)
    kill(worker)


def kill_driver(strike: Strike) -> None:
    worker = strike.worker()
    driver = required(targets.driver(worker))
    strike.begin(worker)
    kill(driver)


def kill_browser(strike: Strike) -> None:
    worker = strike.worker()
    browser = required(targets.browser(worker))
    strike.begin(worker)
    kill_group(browser)


def kill_renderer(strike: Strike) -> None:
    """Kill what draws a worker's pages, as the kernel does where memory is short."""
    worker = strike.worker()
    renderers = targets.renderers(worker)
    if not renderers:
        raise NoTarget
    strike.begin(worker)
    for renderer in renderers:
        kill(renderer)


def kill_heart(strike: Strike) -> None:
    heart = strike.heart()
    strike.begin(heart)
    kill(heart)


def kill_launcher(strike: Strike) -> None:
    launcher = strike.launcher()
    strike.begin()
    send(launcher, signal.SIGKILL)


def stop_worker(strike: Strike) -> None:
    """Stop a worker, some for a while, most until the launcher has killed it."""
    worker = strike.worker()
    strike.begin(worker)
    send(worker.pid, signal.SIGSTOP)
    strike.last_while_alive(worker, strike.rng.choice((3.0, STOPPED_SECONDS, STOPPED_SECONDS)))
    wake(worker)


def stop_driver(strike: Strike) -> None:
    worker = strike.worker()
    driver = required(targets.driver(worker))
    strike.begin(worker)
    send(driver.pid, signal.SIGSTOP)
    strike.last(2, 10)
    wake(driver)


def stop_heart(strike: Strike) -> None:
    heart = strike.heart()
    strike.begin(heart)
    send(heart.pid, signal.SIGSTOP)
    strike.last_while_alive(heart, strike.rng.choice((2.0, 4.0, STOPPED_SECONDS)))
    wake(heart)


def stop_launcher(strike: Strike) -> None:
    launcher = strike.launcher()
    strike.begin()
    send(launcher, signal.SIGSTOP)
    strike.last(2, 6)
    if strike.pool.pid == launcher:
        send(launcher, signal.SIGCONT)


def wake(process: ProcessId) -> None:
    """Let a stopped process go on, if it is still there."""
    if is_alive(process):
        send(process.pid, signal.SIGCONT)


def send(pid: int, number: signal.Signals) -> None:
    """Signal a process that may have ended meanwhile."""
    with suppress(ProcessLookupError):
        os.kill(pid, number)
