"""Keep a recorded trace without the proxy's login, which Chromium sends with every request."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

from worker.evidence.redaction import MASK

# A request's headers, as a trace's network log has them.
_PROXY_LOGIN = re.compile(rb'("name":\s*"proxy-authorization",\s*"value":\s*")[^"]*', re.IGNORECASE)
_NETWORK = ".network"


def hide_proxy_login(trace: Path) -> None:
    """Rewrite a trace in place if it holds a proxy's login; raises OSError when it cannot."""
    try:
        _rewrite(trace)
    except zipfile.BadZipFile as error:
        raise OSError(f"the trace was cut short ({error})") from error


def _rewrite(trace: Path) -> None:
    with zipfile.ZipFile(trace) as archive:
        if not any(
            _PROXY_LOGIN.search(archive.read(name)) for name in archive.namelist() if _is_log(name)
        ):
            return
        clean = trace.with_name(f"{trace.name}.clean")
        try:
            with zipfile.ZipFile(clean, "w", zipfile.ZIP_DEFLATED) as copy:
                for name in archive.namelist():
                    content = archive.read(name)
                    if _is_log(name):
                        content = _PROXY_LOGIN.sub(rb"\g<1>" + MASK.encode(), content)
                    copy.writestr(name, content)
            clean.replace(trace)
        finally:
            clean.unlink(missing_ok=True)


def _is_log(name: str) -> bool:
    return name.endswith(_NETWORK)
