"""Which engine a session has: one that starts its browser here, or one that finds it elsewhere."""

from __future__ import annotations

from collections.abc import Callable

from worker.browser.elsewhere.remote_engine import RemoteEngine
from worker.browser.engine import Engine
from worker.browser.options import BrowserOptions
from worker.browser.watchdog import Limit


def engine_for(options: BrowserOptions, limit: Callable[[float], Limit]) -> Engine:
    """Make the engine that a session's options ask for."""
    if options.elsewhere is None:
        return Engine(options, limit)
    return RemoteEngine(options, options.elsewhere, limit)
