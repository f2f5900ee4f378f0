"""Take secrets and control characters out of what goes into evidence: pure text functions.

Secrets are known by the names beside them (headers, query parameters, payload keys); a secret
that stands alone in a page's text cannot be known.
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
_URL = re.compile(r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>`]+", re.IGNORECASE)
_USERINFO = re.compile(r"^([a-z][a-z0-9+.-]*://)[^/?#]*@", re.IGNORECASE)
_PARAMETER = re.compile(r"([?&;#])([^=&;#?]+)=([^&;#]*)")
_BEARER = re.compile(r"\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}", re.IGNORECASE)
# C0 and C1 controls but for tab and newline, and the marks that turn the reading direction:
# a terminal may obey them, and everything a page says is a stranger's text.
_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def is_secret_name(name: str) -> bool:
    """Tell whether a parameter, header or key of this name usually holds a secret."""
    words = {word.lower() for word in _WORDS.findall(name)}
    return bool(_SECRET_PARTS.search(name)) or not words.isdisjoint(_SECRET_WORDS)


def redact_url(url: str) -> str:
    """Mask the user name, password and secret parameters of a URL, and keep it short."""
    url = _USERINFO.sub(rf"\1{MASK}@", url)
    url = _PARAMETER.sub(_mask_parameter, url)
    return url if len(url) <= MAX_URL else f"{url[:MAX_URL]}… ({len(url)} characters)"


def redact_headers(headers: dict[str, str]) -> dict[str, str]:
    """Mask the headers that carry a login, and secrets inside the others' URLs."""
    return {
        name: MASK if name.lower() in SECRET_HEADERS else redact_text(value)
        for name, value in headers.items()
    }


def redact_text(text: str) -> str:
    """Mask the secrets in the URLs that a text mentions, and its authorization values."""
    text = _URL.sub(lambda found: redact_url(found.group()), text)
    return _BEARER.sub(rf"\1 {MASK}", text)


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


def strip_controls(text: str) -> str:
    """Replace every character that a terminal might obey instead of showing it."""
    return _CONTROLS.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def _mask_parameter(found: re.Match[str]) -> str:
    lead, name, value = found.groups()
    masked = MASK if value and is_secret_name(unquote_plus(name)) else value
    return f"{lead}{name}={masked}"
