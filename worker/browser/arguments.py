"""The arguments of a browser's command line: ours, and those that the settings add.

Only Chromium has any of ours. What the settings switch on or off goes into our lists of features.
"""

from __future__ import annotations

from worker.browser import face, features, sandbox
from worker.browser.options import BrowserOptions

# Nothing may go over the network but what a task asks for.
QUIET_ARGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-domain-reliability",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)

# Pages are drawn by a thread of the browser's own process: a page costs 5 ms of 70 less, with the
# same pixels and the same WebGL (measured). Where there is a sandbox, the process that draws
# otherwise is in it, and stays.
DRAWN_INSIDE = "--in-process-gpu"


def of(options: BrowserOptions) -> list[str]:
    """List the arguments that a browser is started with."""
    if not options.is_chromium:
        return list(options.launch_args)
    lists, others = features.arguments(options.launch_args)
    inside = [DRAWN_INSIDE] if options.is_shell and not sandbox.is_wanted() else []
    return [*QUIET_ARGS, *inside, *lists, *face.ordinary_flags(options), *others]
