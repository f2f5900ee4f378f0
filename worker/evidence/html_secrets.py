"""A page's HTML without the secrets in its forms: passwords, tokens, what the job itself typed in.

Knows the form that browsers write HTML in; whatever a page puts into scripts cannot make it slow.
"""

from __future__ import annotations

import re

from worker.evidence.known_secrets import MASK
from worker.evidence.redaction import redact_whole
from worker.evidence.secret_names import is_secret_name

# The end is optional, so that a tag without one is passed over and not read again and again.
_TAG = re.compile(r"""<(?:input|meta)\b(?>(?:[^<>"']++|"[^"]*+"?|'[^']*+'?)*)>?""", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""(?<![\w:-])([\w:-]++)\s*+=\s*+("[^"]*+"?|'[^']*+'?|[^\s"'>]++)""")
# What tells what a field is for.
_NAMES = ("name", "id", "property", "autocomplete", "aria-label", "placeholder")
VALUES = ("value", "content")
# Nobody writes a longer one, but to have us read it for long.
MAX_TAG = 100_000


def mask_html(html: str) -> str:
    """Mask passwords, the values of fields and meta tags with a secret's name, and the rest."""
    return redact_whole(_TAG.sub(_mask_tag, html))


def is_secret_field(attributes: dict[str, str]) -> bool:
    """Tell from an element's attributes whether its value is a secret."""
    if attributes.get("type", "").lower() == "password":
        return True
    return any(is_secret_name(attributes[name]) for name in _NAMES if name in attributes)


def _mask_tag(found: re.Match[str]) -> str:
    tag = found[0]
    if len(tag) > MAX_TAG:
        return f"<!-- {MASK}: a tag of {len(tag)} characters -->"
    attributes = {
        each[1].lower(): each[2].strip("\"'") for each in _ATTRIBUTE.finditer(tag[:10_000])
    }
    if not any(attributes.get(name) for name in VALUES) or not is_secret_field(attributes):
        return tag
    return _ATTRIBUTE.sub(_mask_value, tag)


def _mask_value(found: re.Match[str]) -> str:
    return f'{found[1]}="{MASK}"' if found[1].lower() in VALUES else found[0]
