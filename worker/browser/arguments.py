"""The arguments of a browser's command line: ours, and those that the settings add.

Only Chromium has any of ours. Of several `--disable-features` it heeds only the last, so what the
settings switch off goes into our list.
"""

from __future__ import annotations

from worker.browser import face
from worker.browser.features import DISABLE_FEATURES
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

_OFF = DISABLE_FEATURES.partition("=")[0] + "="


def of(options: BrowserOptions) -> list[str]:
    """List the arguments that a browser is started with."""
    if not options.is_chromium:
        return list(options.launch_args)
    off = [each.removeprefix(_OFF) for each in options.launch_args if each.startswith(_OFF)]
    others = [each for each in options.launch_args if not each.startswith(_OFF)]
    return [*QUIET_ARGS, ",".join([DISABLE_FEATURES, *off]), *face.ordinary_flags(options), *others]
