"""A value that stands under a secret's name is masked wherever it appears, in every spelling."""

from __future__ import annotations

import base64
import html
import json
import time
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.evidence import known_secrets
from worker.evidence.known_secrets import MASK, KnownSecrets
from worker.evidence.redaction import redact_json, redact_text

AWKWARD = 'p&"<ö>\\ horse 7!/%'


@pytest.fixture(autouse=True)
def _forget():
    yield
    known_secrets.end()


@pytest.mark.parametrize(
    "spelled",
    [
        AWKWARD,
        quote(AWKWARD),
        quote(AWKWARD, safe=""),
        quote_plus(AWKWARD),
        quote(quote(AWKWARD, safe=""), safe=""),
        quote(AWKWARD).lower().replace("%c3%b6", "%c3%b6"),
        json.dumps(AWKWARD),
        json.dumps(json.dumps({"x": AWKWARD}, ensure_ascii=False), ensure_ascii=False),
        html.escape(AWKWARD),
        repr({"x": AWKWARD}),
    ],
)
def test_every_spelling_of_a_value_is_masked(spelled):
    known = KnownSecrets.of_payload({"login": {"password": AWKWARD}})

    assert "horse" not in known.mask(f"before {spelled} after")
    assert known.mask(f"before {spelled} after").startswith("before ")


@given(
    st.text(min_size=6, max_size=40)
    .filter(lambda text: len(text.strip()) >= 6)
    .filter(known_secrets.can_mask)
)
def test_any_value_is_masked_in_a_text_and_in_json(value):
    known = KnownSecrets([value])

    assert value.strip() not in known.mask(f"[{value}]").replace(MASK, "")
    assert json.loads(json.dumps(known.mask_json({"a": [value, 1]})))["a"][1] == 1


@pytest.mark.parametrize("value", ["a", "it", "abc", "", " ", "true", "None", True, None, 7])
def test_short_values_and_plain_words_do_not_eat_text(value):
    text = "it was true that None of abc is a secret, 7 times"

    assert KnownSecrets.of_payload({"password": value}).mask(text) == text


def test_a_short_value_is_masked_as_a_word_only():
    known = KnownSecrets.of_payload({"pin": 7391, "pass": "pass"})

    assert known.mask("pin 7391, not 173910") == f"pin {MASK}, not 173910"
    assert known.mask("password, pass%20pass") == f"password, {MASK}%20{MASK}"


@pytest.mark.parametrize(
    ("payload", "secrets"),
    [
        ({"url": "http://me:horses@h.test/?a=1"}, {"horses"}),
        ({"url": "https://h.test/?token=a%20horse&page=2"}, {"a%20horse", "a horse"}),
        ({"a": [{"credentials": {"who": "stable", "what": ["horses", 123456]}}]},
         {"stable", "horses", "123456"}),
        ({"steps": [{"fill": {"#password": {"secret": "SHOP_PASSWORD"}, "#pw": "horses"}}]},
         {"horses"}),
        ({"code": "horses", "status_code": "harmless"}, {"horses"}),
        ("not JSON {", set()),
        ('{"password": "horses"}', {"horses"}),
        ([1, None], set()),
        ({"headers": [{"name": "Cookie", "value": "theme=dark; sid=white-horse"}]},
         {"theme=dark; sid=white-horse", "white-horse"}),
        ({"bearer": "horses", "mfa": 123456}, {"horses", "123456"}),
        ({"X-Session": "stable"}, {"stable"}),
        ({"name": "colour", "value": "white"}, set()),
        ({"note": "x" * 50_000 + "?token=horses"}, {"horses"}),
    ],
)  # fmt: skip
def test_what_a_payload_keeps_secret_is_found(payload, secrets):
    assert KnownSecrets.of_payload(payload)._values == secrets


def test_lines_of_a_key_are_masked_one_by_one():
    known = KnownSecrets(["-----BEGIN-----\nline-of-a-key-1\nline-of-a-key-2\n"])

    assert "line-of" not in known.mask("  | line-of-a-key-1\n  | line-of-a-key-2\n")


def test_the_secrets_of_a_job_are_forgotten_with_it():
    known_secrets.begin('{"password": "a white horse"}')
    during = redact_text("saw a white horse")
    known_secrets.begin("{}")

    assert during == f"saw {MASK}"
    assert redact_text("saw a white horse") == "saw a white horse"


def test_a_result_loses_only_secrets_that_were_read_by_name():
    known_secrets.begin('{"key": "SKU-12345"}')
    known_secrets.add_named("a white horse")
    result = json.dumps({"key": "SKU-12345", "said": "a white horse!", "n": 12345678})

    masked = json.loads(known_secrets.mask_result(result))
    assert masked == {"key": "SKU-12345", "said": f"{MASK}!", "n": 12345678}


@pytest.mark.parametrize(
    ("secret", "result", "masked"),
    [
        ("73914628", {"n": 73914628}, {"n": MASK}),
        ("0815", [815, 816], [MASK, 816]),
        ("12.50", [12.5, 12, True], [MASK, 12, True]),
        ("4711", {"n": 4711.0, "m": 147110}, {"n": MASK, "m": 147110}),
        ("white_horse", {"white_horse": 1, "white": 2}, {MASK: 1, "white": 2}),
    ],
)
def test_a_named_secret_is_in_no_result_as_a_number_or_a_key(secret, result, masked):
    known_secrets.begin(None)
    known_secrets.add_named(secret)

    assert json.loads(known_secrets.mask_result(json.dumps(result))) == masked


def test_a_payload_of_many_secrets_pushes_no_other_one_out():
    many = [f"{number:05}-longer-than-the-named-one" for number in range(2_000)]
    pins = [f"{number:04}" for number in range(1_000, 2_000)]
    known_secrets.begin({"password": [*many, *pins]})
    known_secrets.add_named("white-horse")

    for value in ("white-horse", many[0], many[-1], pins[0], pins[-1]):
        assert redact_text(f"saw {value} here") == f"saw {MASK} here"
    assert redact_text("saw 2000 and 10001 here") == "saw 2000 and 10001 here"


def test_many_secrets_do_not_make_a_long_text_slow():
    known = KnownSecrets(f"{number:05}-a-secret" for number in range(5_000))
    text = "an ordinary page, 00001-a-secret, and so on; " * 4_000
    began = time.thread_time()
    masked = known.mask(text)

    assert MASK in masked
    assert time.thread_time() - began < 1


def test_a_very_long_value_is_masked_to_its_end():
    value = "".join(f"{number:08x}" for number in range(5_000))
    known = KnownSecrets([value])
    encoded = base64.b64encode(value.encode()).decode()

    assert known.mask(f"({value})").replace(MASK, "") == "()"
    assert known.mask(f"({encoded})").replace(MASK, "").rstrip("=)") == "("


def test_some_values_are_masked_within_a_block_only():
    with known_secrets.also(["a white horse"]):
        during = redact_text("saw a white horse")

    assert (during, redact_text("saw a white horse")) == (f"saw {MASK}", "saw a white horse")


def test_a_number_that_equals_a_secret_leaves_json_whole():
    known = KnownSecrets.of_payload({"pin": 4711})

    assert known.mask_json({"job_id": 4711, "text": "pin 4711"}) == {
        "job_id": 4711,
        "text": f"pin {MASK}",
    }


def test_a_step_that_names_a_secret_is_shown_as_it_is():
    steps = {"steps": [{"fill": {"#password": {"secret": "SHOP_PASSWORD"}, "#otp": "123456"}}]}

    assert redact_json(steps) == {
        "steps": [{"fill": {"#password": {"secret": "SHOP_PASSWORD"}, "#otp": MASK}}]
    }
    assert redact_json({"login": {"secret": "horses"}}) == {"login": {"secret": MASK}}
