"""The one redactor: take secrets and control characters out of logs, messages and evidence.

Secrets are known by the names beside them (headers, parameters, assignments, payload keys); a
secret that stands alone in a page's text cannot be known. Time is linear in the text's length.
"""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import unquote_plus

MASK = "[redacted]"
MAX_URL = 2000

SECRET_HEADERS = frozenset(
    {"cookie", "set-cookie", "authorization", "proxy-authorization", "x-api-key", "x-auth-token"}
)

_SECRET_PARTS = re.compile(
    r"passw|passphrase|secret|token|api[-_]?key|credential|signature|authorization|cookie",
    re.IGNORECASE,
)
_SECRET_WORDS = frozenset(
    {"key", "pwd", "pass", "sig", "auth", "jwt", "otp", "pin", "sid", "sessionid"}
)
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")

_RUN_OF_TEXT = re.compile(r"\S+")
# The login in a URL. A password may hold anything, so it reaches to the last @; past a quote only
# if there is no @ before it. Our own messages write user:password@ as an example.
# Brackets around an address are a host.
_USER = r"://(?!user:password@)(?!\[[0-9a-f:.%]+\])[^/?#\s:@]*"
_ANY = r"(?:[^\s'\"<>`]*|\S*)"
# In a web address the digits after the host are a port, and a path may hold an @.
_PORT = r"\d{1,5}[/?#'\"<>`,;)\]}]"
_WEB_LOGIN = re.compile(
    rf"(?:(?<=http)|(?<=https)|(?<=ws)|(?<=wss)){_USER}(?::(?!{_PORT}){_ANY})?@", re.IGNORECASE
)
_OTHER_LOGIN = re.compile(rf"(?<!http)(?<!https)(?<!ws)(?<!wss){_USER}(?::{_ANY})?@", re.IGNORECASE)
_URL = re.compile(r"://[^\s'\"<>`]+")
_PARAMETER = re.compile(r"([?&;#])([^=&;#?]+)=([^&;#]*)")
_BEARER = re.compile(r"\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}", re.IGNORECASE)
# name=value, name: value or "name": "value". Possessive and only from a name's first letter on, so
# that nothing is read twice. What follows another name may be an assignment itself: "no: token=x".
_NAME = re.compile(r"""(?<![\w-])([\w-]++)["']?\s*+[=:]\s*+""")
_VALUE = re.compile(r""""[^"\n]*+"?|'[^'\n]*+'?|[^\s"'&,;}]++""")
_SECRET_ENDING = re.compile(
    r"(?:passw(?:or)?d|pwd|passphrase|secret|token|api[-_]?key|signature|authorization|cookie)$",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Tell whether a parameter, header or key of this name usually holds a secret."""
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(_SECRET_PARTS.search(name)) or not words.isdisjoint(_SECRET_WORDS)


def redact_url(url: str) -> str:
    """Mask the user name, password and secret parameters of a URL, and keep it short."""
    return _without_parameters(_without_logins(url))


def redact_headers(headers: dict[str, str]) -> dict[str, str]:
    """Mask the headers that carry a login, and the secrets inside the others."""
    return {
        name: MASK if name.lower() in SECRET_HEADERS else redact_text(value)
        for name, value in headers.items()
    }


def redact_text(text: str) -> str:
    """Mask the secrets in a text's URLs, its authorization values and its assignments."""
    text = _URL.sub(lambda found: _without_parameters(found.group()), _without_logins(text))
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return _without_assignments(text)


def redact_json(value: Any) -> Any:
    """Mask, at any depth, what stands under a secret's name and what texts give away."""
    if isinstance(value, dict):
        return {
            str(key): MASK if is_secret_name(str(key)) and inner else redact_json(inner)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_json(inner) for inner in value]
    return redact_text(value) if isinstance(value, str) else value


def _without_logins(text: str) -> str:
    return _RUN_OF_TEXT.sub(_mask_logins, text) if "@" in text else text


def _without_parameters(url: str) -> str:
    url = _PARAMETER.sub(_mask_parameter, url)
    return url if len(url) <= MAX_URL else f"{url[:MAX_URL]}… ({len(url)} characters)"


def _mask_logins(found: re.Match[str]) -> str:
    # Cut after the last @: what is tried then finds one, and no part is searched in vain.
    head, at, tail = found.group().rpartition("@")
    if "://" not in head:
        return found.group()
    for login in (_WEB_LOGIN, _OTHER_LOGIN):
        head = login.sub(f"://{MASK}@", head + at)[:-1]
    return head + at + tail


def _mask_parameter(found: re.Match[str]) -> str:
    lead, name, value = found.groups()
    masked = MASK if value and is_secret_name(unquote_plus(name)) else value
    return f"{lead}{name}={masked}"


def _without_assignments(text: str) -> str:
    parts, done = [], 0
    for name in _NAME.finditer(text):
        if name.start() < done or not _SECRET_ENDING.search(name[1]):
            continue
        value = _VALUE.match(text, name.end())
        if value is not None and not value[0].startswith(MASK):
            parts += [text[done : name.end()], MASK]
            done = value.end()
    return "".join(parts) + text[done:]
