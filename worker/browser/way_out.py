"""The way out of the browsers that we start: freely, or behind proxies that nothing passes by.

Behind proxies WebRTC sends no UDP, Chromium looks up no name but the proxies' own, and whatever has
no proxy leads nowhere. (QUIC is off in every browser of ours.)
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from worker.browser.options import BrowserOptions
from worker.errors import LaunchFailed
from worker.proxies.proxy import Proxy

# WebRTC would send UDP past every proxy.
NO_UDP = "--force-webrtc-ip-handling-policy=disable_non_proxied_udp"
# A name that never exists: who would go out directly gets no further.
NOWHERE = "http://nightshift.invalid:9"

# More would not fit into a command line; those in use are added to it one by one.
MAX_HOSTS = 1000

# Anything else could be read as a rule or a pattern.
_HOST = re.compile(r"[\w.:%-]+", re.ASCII)


class WayOut:
    """The way out of one worker's ordinary browser: what it has now, and what the next one gets."""

    def __init__(self) -> None:
        # Hosts of proxies; without any, the browser goes out freely.
        self._expected: frozenset[str] = frozenset()
        self._launched: frozenset[str] = frozenset()

    def expect(self, hosts: frozenset[str]) -> None:
        """Let the next browser be started behind the proxies of these hosts, or freely."""
        self._expected = hosts if len(hosts) <= MAX_HOSTS else self._launched & hosts

    def suits(self, proxy: Proxy | None) -> bool:
        """Whether the browser as it was started can go out so; if not, the next one will."""
        if proxy is None:
            self._expected = frozenset()
            return not self._launched
        self._expected |= {proxy.host}
        return proxy.host in self._launched

    @property
    def hosts(self) -> frozenset[str]:
        """The hosts of the proxies that the browser was last started behind; none: freely."""
        return self._launched

    def for_launch(self, options: BrowserOptions) -> BrowserOptions:
        """Return the options to start a browser with now; raises LaunchFailed for a leaky one."""
        if self._expected and not options.is_chromium:
            raise LaunchFailed(not_behind_proxies(options.kind))
        self._launched = self._expected
        return behind(options, self._launched) if self._launched else options


def not_behind_proxies(kind: str) -> str:
    """Say why a browser is not used where there are proxies."""
    return (
        f"--browser-type {kind}: there are proxies, and nothing here keeps its pages from passing "
        f"them by (WebRTC, lookups of names); use chromium, or remove the proxies"
    )


def behind(options: BrowserOptions, hosts: Iterable[str]) -> BrowserOptions:
    """Return the options of a browser that goes out through the proxies of these hosts only."""
    arguments = (*options.launch_args, NO_UDP, look_up_only(hosts))
    return replace(options, way_out=NOWHERE, launch_args=tuple(dict.fromkeys(arguments)))


def look_up_only(hosts: Iterable[str]) -> str:
    """Keep Chromium from resolving any name but these: a proxy resolves the others."""
    names = sorted(filter(None, map(_as_chromium_writes, hosts)))
    return (
        f"--host-resolver-rules={','.join(['MAP * ~NOTFOUND', *(f'EXCLUDE {n}' for n in names)])}"
    )


def _as_chromium_writes(host: str) -> str | None:
    try:
        name = host if host.isascii() else host.encode("idna").decode()
    except UnicodeError:
        return None
    return name if _HOST.fullmatch(name) else None
