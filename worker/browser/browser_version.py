"""Which version a browser's program has, asked without opening a browser.

It is asked once for each file: an upgrade in place is a new file.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from worker.browser.options import BrowserOptions, downloaded_shell
from worker.browser_settings import CHANNELS
from worker.system.private_environment import without_secrets

ASK_SECONDS = 10.0
CHROME, EDGE = "Google Chrome", "Microsoft Edge"
_ANSWER = re.compile(r"(\S.*?) (\d+)((?:\.\d+){3})\b")


@dataclass(frozen=True, slots=True)
class BrowserVersion:
    """A browser as its program calls itself: "Chromium", 156, "156.0.8078.79"."""

    product: str
    major: int
    full: str

    @property
    def brand(self) -> str:
        """What it calls itself in client hints beside Chromium; empty for a Chromium as such."""
        return self.product if self.product in (CHROME, EDGE) else ""


def version_of(options: BrowserOptions) -> BrowserVersion | None:
    """Ask the program that would be started; None when it does not say, or there is none."""
    if options.channel is not None:
        path: str | Path | None = CHANNELS[options.channel]
    else:
        path = options.executable or (downloaded_shell() if options.is_chromium else None)
    try:
        return None if path is None else _ask(str(path), Path(path).stat().st_mtime_ns)
    except OSError:
        return None


def parse_version(answer: str) -> BrowserVersion | None:
    """Read what a browser answers to `--version`."""
    found = _ANSWER.match(answer.strip())
    return None if found is None else BrowserVersion(found[1], int(found[2]), found[2] + found[3])


@functools.lru_cache(maxsize=8)
def _ask(path: str, _written_at: int) -> BrowserVersion | None:
    try:
        answer = subprocess.run(
            [path, "--version"],
            env=without_secrets(os.environ),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=ASK_SECONDS,
            check=False,
        ).stdout
    except (OSError, subprocess.TimeoutExpired):
        return None
    return parse_version(answer.decode("utf-8", "replace"))
