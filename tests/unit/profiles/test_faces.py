"""The face that a region gives, and what a person may write."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from worker.errors import UsageError
from worker.profiles import faces
from worker.profiles.windows import find_zone

TABLE = tomllib.loads((Path(faces.__file__).parent / "regions.toml").read_text())


def test_germany_is_in_berlin_and_reads_german():
    assert faces.complete({}, "de") == {
        "timezone": "Europe/Berlin",
        "locale": "de-DE",
        "system": "linux",
        "viewport": "1280x720",
    }


@pytest.mark.parametrize(
    ("region", "zone"),
    [
        ("DE", "Europe/Berlin"),
        ("de-berlin", "Europe/Berlin"),
        ("us_west", "America/Los_Angeles"),
        ("us-nowhere", "America/New_York"),
        ("atlantis", "UTC"),
        ("", "UTC"),
        (None, "UTC"),
    ],
)
def test_a_region_is_found_by_its_name_or_its_beginning(region, zone):
    assert faces.complete({}, region)["timezone"] == zone
    assert faces.is_known(region) is (zone != "UTC")


def test_what_was_chosen_stays():
    chosen = faces.complete({"locale": "fr-FR"}, "de")

    assert (chosen["locale"], chosen["timezone"]) == ("fr-FR", "Europe/Berlin")


@pytest.mark.parametrize("region", TABLE["regions"])
def test_every_region_of_the_table_has_a_zone_and_a_locale_that_are_valid(region):
    entry = TABLE["regions"][region]

    assert find_zone(entry["timezone"]).key == entry["timezone"]
    assert faces.parse("locale", entry["locale"]) == entry["locale"]


@pytest.mark.parametrize(
    ("field", "text", "kept"),
    [
        ("timezone", " Europe/Berlin ", "Europe/Berlin"),
        ("locale", "DE_de", "de-DE"),
        ("locale", "zh-hant-tw", "zh-Hant-TW"),
        ("locale", "es-419", "es-419"),
        ("locale", "fil-PH", "fil-PH"),
        ("locale", "eo", "eo"),
        ("system", "Windows", "windows"),
        (
            "system",
            "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 "
            "(KHTML, like Gecko) Chrome/999.0.0.0 Safari/537.36",
            "macos",
        ),
        ("viewport", "1366 x 768", "1366x768"),
        ("viewport", "0800x0600", "800x600"),
    ],
)
def test_what_a_person_writes_is_kept_in_one_form(field, text, kept):
    assert faces.parse(field, text) == kept


@pytest.mark.parametrize(
    ("field", "text", "why"),
    [
        ("timezone", "Europe/Berln", "did you mean Europe/Berlin?"),
        ("timezone", "", "unknown time zone"),
        ("timezone", "../etc/passwd", "unknown time zone"),
        ("locale", "german", "write one as de-DE"),
        ("locale", "de-DE,en", "write one as de-DE"),
        ("locale", "xx_YY", "there is no language 'xx'"),
        ("locale", "de-YY", "there is no country 'YY'"),
        ("locale", "en-UK", "there is no country 'UK'"),
        ("timezone", "localtime", "is another on each machine; write one as Europe/Berlin"),
        ("system", "amiga", "linux, windows, macos"),
        ("system", "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", "one"),
        ("viewport", "large", "write one as 1280x720"),
        ("viewport", "10x720", "out of range"),
        ("viewport", "99999x720", "out of range"),
    ],
)
def test_what_cannot_be_is_refused_with_what_to_write(field, text, why):
    with pytest.raises(UsageError) as refusal:
        faces.parse(field, text)

    assert why in str(refusal.value)
    assert "\n" not in str(refusal.value)
