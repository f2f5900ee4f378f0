"""Every form in which a program writes a value by itself is known."""

from __future__ import annotations

import base64
import html
import json
from urllib.parse import quote, quote_plus

import pytest

from worker.evidence.known_secrets import MASK, KnownSecrets
from worker.evidence.spellings import spellings

AWKWARD = "p&\"<ö>\\ horse's 7!/%~"
FULL = "".join(f"%{byte:02X}" for byte in AWKWARD.encode())
ENCODED = quote(AWKWARD, safe="")


@pytest.mark.parametrize(
    "spelled",
    [
        base64.b64encode(AWKWARD.encode()).decode(),
        base64.urlsafe_b64encode(AWKWARD.encode()).decode().rstrip("="),
        AWKWARD.encode().hex(),
        AWKWARD.encode().hex().upper(),
        FULL,
        FULL.lower(),
        quote(FULL, safe=""),
        quote(ENCODED, safe=""),
        quote(ENCODED.replace("%C3%B6", "%c3%b6").replace("%3C", "%3c"), safe="").lower(),
        quote_plus(AWKWARD).replace("~", "%7E"),
        # As Chromium writes it in a query, in a fragment, and in an address without slashes.
        "p&%22%3C%C3%B6%3E\\%20horse%27s%207!/%~",
        "p&%22%3C%C3%B6%3E\\%20horse's%207!/%~",
        "p&\"<%C3%B6>\\ horse's 7!/%~",
        html.escape(AWKWARD).replace("&#x27;", "&#39;"),
        html.escape(AWKWARD).encode("ascii", "xmlcharrefreplace").decode(),
        "".join(f"&#{ord(letter)};" for letter in AWKWARD),
        "".join(f"&#x{ord(letter):X};" for letter in AWKWARD),
        json.dumps(AWKWARD).replace("/", "\\/"),
        json.dumps(AWKWARD).replace("<", "\\u003c").replace(">", "\\u003e")
        .replace("&", "\\u0026").replace("'", "\\u0027"),
    ],
)  # fmt: skip
def test_a_form_is_masked(spelled):
    spelled = spelled.strip('"')

    assert KnownSecrets([AWKWARD]).mask(f"before {spelled} after") == f"before {MASK} after"


def test_the_value_comes_first_and_nothing_gets_shorter():
    forms = list(spellings(AWKWARD))

    assert forms[0] == AWKWARD
    assert min(map(len, forms)) >= len(AWKWARD)


def test_half_characters_do_no_harm():
    assert "a-\ud800-horse" in spellings("a-\ud800-horse")


def test_a_value_that_goes_on_in_the_fragment_of_an_address_is_known():
    assert "S3cr+et/=%41~(x)!*%27#q'%22" in set(spellings("S3cr+et/=%41~(x)!*'#q'\""))
