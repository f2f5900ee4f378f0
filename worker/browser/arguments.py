"""The arguments of a browser's command line: ours, and those that the settings add.

Only Chromium has any of ours. What the settings switch on or off goes into our lists of features.
"""

from __future__ import annotations

from worker.browser import face, features
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


def of(options: BrowserOptions) -> list[str]:
    """List the arguments that a browser is started with."""
    if not options.is_chromium:
        return list(options.launch_args)
    lists, others = features.arguments(options.launch_args)
    return [*QUIET_ARGS, *lists, *face.ordinary_flags(options), *others]
