"""How a value may be spelled where it is shown or sent: for URLs, JSON, HTML, base64, hex.

Every form is one that a browser, a server or a program writes by itself. Other ones (reversed, in
pieces, compressed, in other letters) are not known.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterator
from urllib.parse import quote, quote_plus

# JSON within JSON within JSON.
MAX_ESCAPES = 3

_SAFE_IN_SCRIPTS = "!'()*~"
# What the URL standard has browsers encode, by where it stands; other letters of ASCII stay.
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_IN_QUERY, _IN_FRAGMENT, _IN_PATH = " \"#<>'", ' "<>`', ' "#<>?^`{}'
_ENCODED_BY_BROWSERS = (_IN_QUERY, _IN_QUERY.replace("'", ""), _IN_FRAGMENT, _IN_PATH, "")
_PERCENT = re.compile(r"%[0-9A-F]{2}")
# What other languages escape in JSON, so that it can stand in a page.
_ESCAPED_FOR_PAGES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "'": "\\u0027"}


def spellings(value: str) -> Iterator[str]:
    """Give every known form of a value, itself first; some of them may be equal."""
    yield value
    yield repr(value)[1:-1]
    yield from _in_json(value)
    yield from _in_urls(value)
    yield from _in_html(value)
    yield from _in_bytes(value)


def _in_json(value: str) -> Iterator[str]:
    for ensure_ascii in (True, False):
        escaped = value
        for _ in range(MAX_ESCAPES):
            escaped = json.dumps(escaped, ensure_ascii=ensure_ascii)[1:-1]
            yield escaped
        once = json.dumps(value, ensure_ascii=ensure_ascii)[1:-1]
        yield once.replace("/", "\\/")
        for letter, code in _ESCAPED_FOR_PAGES.items():
            once = once.replace(letter, code)
        yield once


def _in_urls(value: str) -> Iterator[str]:
    """Percent-encode once and twice, with digits of either case, as little or as much as can be."""
    forms = {
        quote(value, safe=safe, errors="replace")
        for safe in ("", "/", _SAFE_IN_SCRIPTS, f"{_SAFE_IN_SCRIPTS}/:@$&+,;=")
    }
    forms.add(quote_plus(value, safe="*", errors="replace"))
    # A form's body: the only place where ~ is encoded.
    forms.add(quote_plus(value, safe="*", errors="replace").replace("~", "%7E"))
    forms.add("".join(f"%{byte:02X}" for byte in value.encode("utf-8", "replace")))
    forms.update(_as_browsers_write(value))
    for form in forms:
        small = _PERCENT.sub(lambda found: found[0].lower(), form)
        yield from (form, small, quote(form, safe=""), quote(small, safe=""))


def _as_browsers_write(value: str) -> Iterator[str]:
    """Encode only what a browser does in an address that was put together by hand."""
    for encoded in _ENCODED_BY_BROWSERS:
        yield _but_for(encoded, value)
    # What follows a # is a fragment, with a set of its own.
    before, mark, after = value.partition("#")
    if mark:
        yield _but_for(_IN_QUERY, before) + mark + _but_for(_IN_FRAGMENT, after)


def _but_for(encoded: str, value: str) -> str:
    safe = "".join(letter for letter in _PRINTABLE if letter not in encoded)
    return quote(value, safe=safe, errors="replace")


def _in_html(value: str) -> Iterator[str]:
    escaped = html.escape(value)
    bare = html.escape(value, quote=False)
    for form in (escaped, escaped.replace("&#x27;", "&#39;"), escaped.replace("&#x27;", "'"), bare):
        yield form
        yield form.encode("ascii", "xmlcharrefreplace").decode()
    yield "".join(f"&#{ord(letter)};" for letter in value)
    yield "".join(f"&#x{ord(letter):x};" for letter in value)
    yield "".join(f"&#x{ord(letter):X};" for letter in value)


def _in_bytes(value: str) -> Iterator[str]:
    """Base64, of either alphabet and with or without its end, and hexadecimal digits."""
    content = value.encode("utf-8", "replace")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        encoded = encode(content).decode()
        yield encoded
        yield encoded.rstrip("=")
        yield quote(encoded, safe="")
    yield content.hex()
    yield content.hex().upper()
