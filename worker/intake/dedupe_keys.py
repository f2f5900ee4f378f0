"""How a dedupe key is kept: a long one, such as a URL, with a hash in place of its end.

Equal keys stay equal and different ones different, on every host and in every version.
"""

from __future__ import annotations

import hashlib

# The width of the column.
MAX_DEDUPE_KEY = 191
# Of a longer key: what is kept as it is, and how many hex digits stand for the rest.
KEPT = 150
DIGITS = MAX_DEDUPE_KEY - KEPT - 1


def fitting(key: str) -> str:
    """Return a key as it is stored; in SQL the long ones are:

    CONCAT(LEFT(k, 150), '~', LEFT(SHA2(SUBSTRING(k, 151), 256), 40))
    """
    if len(key) <= MAX_DEDUPE_KEY:
        return key
    rest = key[KEPT:].encode("utf-8", "surrogatepass")
    return f"{key[:KEPT]}~{hashlib.sha256(rest).hexdigest()[:DIGITS]}"
