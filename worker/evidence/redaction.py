"""The one redactor: take secrets and control characters out of logs, messages and evidence.

Secrets are known by the names beside them (headers, parameters, assignments, payload keys), or by
their value where that is known (`known_secrets.py`). A secret of neither kind that stands alone in
a page's text cannot be known. Time is linear in the text's length, and over-long texts are cut.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any
from urllib.parse import unquote_plus

from worker.evidence import known_secrets
from worker.evidence.assignments import mask_assignments
from worker.evidence.call_logs import mask_typed
from worker.evidence.known_secrets import MASK, KnownSecrets, is_secret_pair
from worker.evidence.secret_names import SECRET_HEADERS, is_secret_name
from worker.secret_references import AROUND, is_reference

__all__ = [
    "MASK",
    "is_secret_name",
    "redact_closed",
    "redact_headers",
    "redact_json",
    "redact_text",
    "redact_url",
    "redact_whole",
]

MAX_URL = 2000
# Past this a text is cut in its middle before it is read: no message needs more.
MAX_TEXT = 200_000
# Of texts up to here, known secrets are masked before they are cut.
MOST_MASKED_WHOLE = 20_000_000
# How many texts that came last are known with their masked form, and how long they may be.
KNOWN_TEXTS = 300
MAX_KNOWN_TEXT = 10_000
# How deep JSON is looked into; nobody reads deeper, and Python's stack ends somewhere.
MAX_DEPTH = 100

# Without any of these a text gives no secret away but one whose value is known.
_SUSPECT = re.compile(r"[=:@%(,]|\b(?:bearer|basic)\s", re.IGNORECASE)
_RUN_OF_TEXT = re.compile(r"\S+")
_BORDER = re.compile(r"[\s\"'&;,<>]")
# The login in a URL. A password may hold anything, so it reaches to the last @; past a quote only
# if there is no @ before it. Our own messages write user:password@ as an example.
# Brackets around an address are a host.
_USER = r"(?!user:password@)(?!\[[0-9a-f:.%]+\])[^/?#\s:@]*"
_ANY = r"(?:[^\s'\"<>`]*|\S*)"
# In a web address the digits after the host are a port, and a path may hold an @.
_PORT = r"\d{1,5}[/?#'\"<>`,;)\]}]"
# What stands before is looked at last: the three marks are found fast.
_WEB_LOGIN = re.compile(
    r"://(?:(?<=http://)|(?<=https://)|(?<=ws://)|(?<=wss://))"
    rf"{_USER}(?::(?!{_PORT}){_ANY})?@",
    re.IGNORECASE,
)
_OTHER_LOGIN = re.compile(
    rf"://(?<!http://)(?<!https://)(?<!ws://)(?<!wss://){_USER}(?::{_ANY})?@", re.IGNORECASE
)
_URL = re.compile(r"://[^\s'\"<>`]+")
# The same within a parameter of another URL, percent-encoded once or more.
_ENCODED_LOGIN = re.compile(
    r"(%(?:25)*+3A%(?:25)*+2F%(?:25)*+2F)(?>(?:(?!%(?:25)*+(?:2F|40|3F|23))[^\s&'\"<>`])+)(?=%(?:25)*+40)",
    re.IGNORECASE,
)
_PARAMETER = re.compile(r"([?&;#])([^=&;#?]+)=([^&;#]*)")
# In running text: a path with a query, or the body of a form.
_TEXT_PARAMETER = re.compile(r"([?&;#])([\w.%\[\]-]{1,100})=([^&;#\s'\"<>`]++)")
_FIRST_PARAMETER = re.compile(r"\A([\w.%\[\]-]{1,100})=([^&;#\s'\"<>`]++)(?=&)")
_ENCODED_PARAMETER = re.compile(
    r"(%(?:25)*+(?:3F|26|23))([\w.-]{1,100})(%(?:25)*+3D)((?>(?:(?!%(?:25)*+(?:26|23))[^\s&'\"<>`])+))",
    re.IGNORECASE,
)
# JSON as a parameter; what is in quotes ends at a quote that is not escaped.
_CODED = r"%(?:25)*+"
_SPACE = rf"(?>(?:{_CODED}20|\+)*)"
_ENCODED_JSON = re.compile(
    rf"({_CODED}22)([\w.-]{{1,100}})({_CODED}22{_SPACE}(?:{_CODED}3A|:){_SPACE})"
    rf"(?:({_CODED}22)((?>(?:{_CODED}5C{_CODED}22|(?!{_CODED}22)[^\s&'\"<>`])+))"
    rf"|()((?>(?:(?!{_CODED}(?:2C|7D|5B|7B))[^\s&'\"<>`,}}])+)))",
    re.IGNORECASE,
)
# JSON in a page's own text or attributes.
_ENTITY = r"&(?:quot|#34|#x22);"
_ESCAPED_JSON = re.compile(
    rf"({_ENTITY}([\w.-]{{1,100}}+){_ENTITY}\s*+:\s*+{_ENTITY})((?>(?:(?!{_ENTITY})[^<>\"\n]){{1,10000}}))"
)
# The text of an element: <Password>…</Password>, in XML.
_ELEMENT = re.compile(
    r"(<([\w:.-]{1,100}+)(?>(?:\s[^<>]{0,500}+)?)>)"
    r"(<!\[CDATA\[(?>(?:(?!\]\]>)[\s\S]){1,10000})(?:\]\]>)?|[^<]{1,10000}+(?=</))"
)
# Elements that hold ordinary text: in HTML, and in lists of files.
_ORDINARY_ELEMENTS = frozenset({"code", "key"})
_NOTHING = frozenset({"null", "true", "false"})
_BEARER = re.compile(r"\b(bearer|basic)\s++[a-z0-9._~+/=-]{8,}+", re.IGNORECASE)


def redact_url(url: str) -> str:
    """Mask the user name, password and secret parameters of a URL, and keep it short."""
    url = known_secrets.mask(_cut(url))
    return _without_parameters(_without_encoded(_without_logins(url)))


def redact_headers(headers: dict[str, str]) -> dict[str, str]:
    """Mask the headers that carry a login, and the secrets inside the others."""
    return {
        name: MASK if name.lower() in SECRET_HEADERS else redact_text(value)
        for name, value in headers.items()
    }


def redact_text(text: str, known: KnownSecrets | None = None) -> str:
    """Mask the secrets in a text's URLs, its authorization values and its assignments.

    `known` are values to mask beside those that this process knows. A very long text is cut.
    """
    return redact_whole(_cut(text, known), known)


def redact_closed(text: str) -> str:
    """Mask a text that words of our own will follow, so that they are taken for no secret.

    Where it ends in a secret's name (`token=`), it gets a masked value of its own.
    """
    text = redact_text(text)
    return text if redact_text(f"{text} x").endswith(" x") else text + MASK


def redact_whole(text: str, known: KnownSecrets | None = None) -> str:
    """Mask the secrets in a text as `redact_text` does, however long it is."""
    text = known_secrets.mask(text)
    if known is not None:
        text = known.mask(text)
    if "</" not in text and not _SUSPECT.search(text):
        return text
    return _mask_known_text(text) if len(text) <= MAX_KNOWN_TEXT else _mask_by_names(text)


def _mask_by_names(text: str) -> str:
    """Mask what a text itself gives away, once the values that are known are masked."""
    text = _URL.sub(lambda found: _without_parameters(found.group()), _without_logins(text))
    text = _without_encoded(text)
    if "=" in text:
        text = _TEXT_PARAMETER.sub(_mask_parameter, text)
        text = _FIRST_PARAMETER.sub(_mask_first, text)
    if "&quot;" in text or "&#" in text:
        text = _ESCAPED_JSON.sub(_mask_named, text)
    if "</" in text:
        text = _ELEMENT.sub(_mask_element, text)
    text = _BEARER.sub(rf"\1 {MASK}", text)
    return mask_typed(mask_assignments(text))


# What it says depends on the text alone, and a failure's text is masked at every door it passes.
_mask_known_text = lru_cache(maxsize=KNOWN_TEXTS)(_mask_by_names)


def redact_json(value: Any, known: KnownSecrets | None = None, depth: int = 0) -> Any:
    """Mask, at any depth, what stands under a secret's name and what texts give away."""
    if depth > MAX_DEPTH:
        return MASK
    if isinstance(value, dict):
        if is_secret_pair(value) and value["value"]:
            value = {**value, "value": MASK}
        return {
            _redact_key(str(key), known): _redact_field(str(key), inner, known, depth + 1)
            for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [redact_json(inner, known, depth + 1) for inner in value]
    return redact_text(value, known) if isinstance(value, str) else value


def _redact_key(key: str, known: KnownSecrets | None) -> str:
    """Mask what a stranger used as a key; a plain name stays, whatever secret equals it."""
    return key if key.isidentifier() else redact_text(key, known)


def _redact_field(name: str, value: Any, known: KnownSecrets | None, depth: int) -> Any:
    if name in AROUND and isinstance(value, dict):
        # A step of the task `steps`, say, may name a secret instead of holding one.
        return {
            _redact_key(str(key), known): inner
            if is_reference(inner)
            else _redact_field(str(key), inner, known, depth + 1)
            for key, inner in value.items()
        }
    if is_secret_name(name) and value:
        return MASK
    return redact_json(value, known, depth)


def _without_logins(text: str) -> str:
    return _RUN_OF_TEXT.sub(_mask_logins, text) if "@" in text else text


def _without_parameters(url: str) -> str:
    url = _PARAMETER.sub(_mask_parameter, url) if "=" in url else url
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


def _mask_first(found: re.Match[str]) -> str:
    name, value = found.groups()
    return f"{name}={MASK if is_secret_name(unquote_plus(name)) else value}"


def _without_encoded(text: str) -> str:
    """Mask logins and parameters of URLs that are parameters themselves."""
    if "%" not in text:
        return text
    text = _ENCODED_LOGIN.sub(rf"\1{MASK}", text)
    return _ENCODED_JSON.sub(_mask_encoded_json, _ENCODED_PARAMETER.sub(_mask_encoded, text))


def _mask_encoded_json(found: re.Match[str]) -> str:
    opening, name, colon, quote, quoted, _, bare = found.groups()
    value = quoted or bare
    masked = MASK if is_secret_name(name) and value not in _NOTHING else value
    return f"{opening}{name}{colon}{quote or ''}{masked}"


def _mask_named(found: re.Match[str]) -> str:
    lead, name, value = found.groups()
    return lead + (MASK if is_secret_name(name) else value)


def _mask_element(found: re.Match[str]) -> str:
    lead, name, value = found.groups()
    is_ordinary = name.rpartition(":")[2].lower() in _ORDINARY_ELEMENTS or not value.strip()
    return lead + (MASK if is_secret_name(name) and not is_ordinary else value)


def _mask_encoded(found: re.Match[str]) -> str:
    lead, name, equals, value = found.groups()
    return f"{lead}{name}{equals}{MASK if is_secret_name(name) else value}"


def _cut(text: str, known: KnownSecrets | None = None) -> str:
    """Cut a text in its middle: the head says what was called, the tail what went wrong.

    Known secrets are masked before, and the tail begins with a whole word: half of a secret is one.
    """
    if len(text) <= MAX_TEXT:
        return text
    half = MAX_TEXT // 2
    if len(text) <= MOST_MASKED_WHOLE:
        text = known_secrets.mask(text if known is None else known.mask(text))
    tail = text[-half:]
    if border := _BORDER.search(tail):
        tail = tail[border.end() :]
    return f"{text[:half]}\n[… {len(text) - half - len(tail)} characters cut …]\n{tail}"
