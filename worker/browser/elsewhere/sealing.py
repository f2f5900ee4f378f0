"""Whether a browser elsewhere goes out through proxies alone, as far as its command line proves it.

A context's proxy carries its pages, but names are looked up and WebRTC is spoken by the whole
browser. Without the proof a browser is not used where proxies are configured.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from worker.browser.way_out import NO_UDP

_SERVER = re.compile(r"--proxy-server=\"?([^\s\"]+)")
_RULES = re.compile(r"--host-resolver-rules=\"?MAP \* ~NOTFOUND((?:,\s*EXCLUDE [^\s,\"]+)*)")
_EXCLUDED = re.compile(r"EXCLUDE ([^\s,\"]+)")


def gap(command_line: str, hosts: Iterable[str]) -> str | None:
    """Say what would pass the proxies on these hosts by; None when the browser lets nothing."""
    if not command_line:
        return "it does not show its command line"
    servers = _SERVER.findall(command_line)
    if not servers or servers[-1].startswith("direct:") or "--no-proxy-server" in command_line:
        return "it has no --proxy-server of its own"
    if NO_UDP not in command_line:
        return f"it was started without {NO_UDP}"
    rules = _RULES.findall(command_line)
    if not rules or not set(_EXCLUDED.findall(rules[-1])) <= set(hosts):
        return "it looks up names by itself (--host-resolver-rules)"
    return None
