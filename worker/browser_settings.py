"""Which browser a run may ask for, and which of its settings contradict each other.

Knows names only: whether a browser is there is seen in `browser/`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Protocol

from worker.context_fields import Level, problem_in

CHROMIUM, FIREFOX, WEBKIT = TYPES = ("chromium", "firefox", "webkit")
# Browsers that their makers' packages install, by Playwright's names, and where: Playwright looks
# there and nowhere else.
CHANNELS = {
    "chrome": "/opt/google/chrome/chrome",
    "chrome-beta": "/opt/google/chrome-beta/chrome",
    "chrome-dev": "/opt/google/chrome-unstable/chrome",
    "chrome-canary": "/opt/google/chrome-canary/chrome",
    "msedge": "/opt/microsoft/msedge/msedge",
    "msedge-beta": "/opt/microsoft/msedge-beta/msedge",
    "msedge-dev": "/opt/microsoft/msedge-dev/msedge",
}

_WAY_OUT = "which way pages go out is not up to an argument; see launcher.py proxies"
_OURS = "Nightshift gives it itself"
# Switches that would undo what a run promises, or that Playwright cannot do without.
_KEPT = {
    **dict.fromkeys(
        (
            "auto-detect-proxy", "dns-over-https-templates", "enable-quic",
            "force-webrtc-ip-handling-policy", "host-resolver-rules", "host-rules",
            "no-proxy-server", "origin-to-force-quic-on",
            "proxy-auto-detect", "proxy-bypass-list", "proxy-pac-url", "proxy-server",
            "webrtc-ip-handling-policy",
        ),
        _WAY_OUT,
    ),
    **dict.fromkeys(
        (
            "profile", "remote-debugging-address", "remote-debugging-pipe",
            "remote-debugging-port", "user-data-dir",
        ),
        _OURS,
    ),
    "headless": "say --headed, or nothing",
    "user-agent": 'say user_agent in [browser.context], or in @task(context={"user_agent": …})',
}  # fmt: skip


class BrowsersElsewhere(Protocol):
    """What a run's settings come to where `browser/elsewhere/config.py` has read endpoints."""

    @property
    def has_default_context(self) -> bool:
        """Whether jobs work in the context that the service has made."""

    @property
    def may_need_closing(self) -> bool:
        """Whether a session may have to be ended by a call."""


def arguments_problem(arguments: Iterable[str]) -> str | None:
    """Say which argument a browser is not given, and why; its value is not repeated."""
    for argument in arguments:
        switch = argument.partition("=")[0].strip()
        if not switch.startswith("-"):
            return f"{switch[:60]!r} is no argument of a browser; write --name or --name=value"
        if why := _KEPT.get(switch.lstrip("-").lower()):
            return f"{switch}: {why}"
    return None


def context_problem(text: str) -> str | None:
    """Say what is wrong with a run's options of contexts, as JSON."""
    try:
        options = json.loads(text)
    except ValueError:
        return 'not JSON; write {"locale": "de-DE"}'
    return problem_in(options, Level.RUN)


def contradiction(
    path: str | None,
    kind: str,
    channel: str | None,
    *,
    deny_private: bool = False,
    respect_robots: bool = False,
    is_elsewhere: bool = False,
) -> str | None:
    """Say what of this cannot be had together."""
    if channel is not None and kind != CHROMIUM:
        return f"--browser-channel {channel} is a Chromium: leave out --browser-type {kind}"
    if is_elsewhere and (channel is not None or kind != CHROMIUM):
        return "--browser-endpoint gives a Chromium: leave out --browser-type and --browser-channel"
    if channel is not None and path:
        return f"--browser-channel {channel} and --browser {path}: give one of them"
    if deny_private and kind != CHROMIUM:
        return (
            f"--deny-private holds in Chromium only: a page in {kind} could find a way past it; "
            f"leave out one of them"
        )
    if respect_robots and kind != CHROMIUM:
        return (
            f"--respect-robots holds in Chromium only: of {kind}, links and redirects would not be "
            f"looked at; leave out one of them"
        )
    return None
