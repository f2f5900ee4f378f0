"""See how a browser that is not ours goes out, as far as its command line tells.

A vendor may set a proxy in ways that cannot be seen from here (an extension, a relay on the
vendor's machine): only what plainly contradicts the profile is refused.
"""

from __future__ import annotations

import re

from playwright.sync_api import Browser
from playwright.sync_api import Error as PlaywrightError

from worker.browser.providers.spec import ProfileSpec
from worker.errors import ProviderError
from worker.installation import command_line
from worker.proxies.proxy import Proxy

_SERVER = re.compile(r"--proxy-server=\"?([^\s\"]*)")
_LOOPBACK = re.compile(r"(?:^|[/=@])(?:127\.|localhost\b|\[::1\])")


def check(browser: Browser, spec: ProfileSpec) -> None:
    """Refuse a browser that goes out otherwise than its profile says; raises ProviderError."""
    if spec.proxy is None or (seen := contradiction(_command_line(browser), spec.proxy)) is None:
        return
    raise ProviderError(
        f"{spec}: its browser goes out {seen}, not through proxy {spec.proxy.name}; set that proxy "
        f"in {spec.provider}, or change the profile: "
        f"{command_line('profiles', 'set', spec.profile_id)} …",
        provider=spec.provider,
        kind="wrong_way_out",
    )


def contradiction(command_line: str, proxy: Proxy) -> str | None:
    """Say how a browser with this command line goes out, if that is surely not through a proxy."""
    found = _SERVER.findall(command_line)
    server = found[-1] if found else ""
    if re.search(r"--no-proxy-server(?:\s|$)", command_line) or server.startswith("direct:"):
        return "directly"
    if not server or _LOOPBACK.search(server) or f"{proxy.host}:{proxy.port}" in server:
        return None
    # A login does not belong into a command line, but who knows.
    return f"through {server.rpartition('@')[2]}"


def _command_line(browser: Browser) -> str:
    try:
        devtools = browser.new_browser_cdp_session()
        facts = devtools.send("SystemInfo.getInfo")
        devtools.detach()
    except PlaywrightError:
        return ""
    return str(facts.get("commandLine") or "")
