"""Which names usually stand for a secret: of parameters, headers, payload fields, form fields.

A wide list, for places where a name is all there is to go by. What stands in running text is
judged more narrowly, in `assignments.py`: "code: 404" is no secret.
"""

from __future__ import annotations

import re

SECRET_HEADERS = frozenset(
    {"cookie", "set-cookie", "authorization", "proxy-authorization", "x-api-key", "x-auth-token"}
)

_PARTS = re.compile(
    r"passw|passphrase|passcode|secret|token|api[-_]?key|credential|signature|authorization|cookie"
    r"|csrf|xsrf|sessid|session[-_]?(?:id|key)"
    r"|(?:auth|access|verification|security|login|sms|mfa|otp|reset|recovery"
    r"|one[-_]?time)[-_]?code",
    re.IGNORECASE,
)
_WORDS = frozenset(
    {
        "key", "pwd", "pw", "pass", "sig", "auth", "oauth", "jwt", "otp", "totp", "pin", "cvv",
        "cvc", "csc", "sid", "creds", "bearer", "mfa",
    }
)  # fmt: skip
# Secrets when they are the whole name; `status_code` and `session_count` are none.
_WHOLE = frozenset({"code", "session"})
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
# Any of these in a text, in whatever place, or a spelling that hides one, or a login in a URL.
_TRACES_OF_NAMES = re.compile("|".join([_PARTS.pattern, *sorted(_WORDS | _WHOLE), r"\\", "@"]))
# The commonest payload: nothing but a plain address, without parameters.
_ONE_ADDRESS = re.compile(r'\{"url": "[^"\\=@%;]*+"\}')
# A name is short; what is longer is a text that somebody used as a key.
_MAX_NAME = 300


def may_hold_secrets(text: str) -> bool:
    """Tell, in no time, whether it is worth looking for secrets in a payload's text."""
    if _ONE_ADDRESS.fullmatch(text):
        return False
    # Lower case first: a regex that minds no case is several times as slow.
    return _TRACES_OF_NAMES.search(text.lower()) is not None


def is_secret_name(name: str) -> bool:
    """Tell whether a parameter, header or key of this name usually holds a secret."""
    name = name[:_MAX_NAME]
    words = [word.lower() for word in _WORD.findall(name)]
    if words[:1] == ["x"]:
        # X-Session: a header of somebody's own.
        words = words[1:]
    if _PARTS.search(name) or not _WORDS.isdisjoint(words):
        return True
    return len(words) == 1 and words[0] in _WHOLE
