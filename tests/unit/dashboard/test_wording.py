"""How figures and times are written on pages."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from worker.dashboard import wording
from worker.dashboard.wording import Clock

BERLIN = Clock(ZoneInfo("Europe/Berlin"), "Europe/Berlin")
NIGHT = datetime.fromisoformat("2026-02-01T01:14:07")


def test_times_are_local_and_the_zone_is_named():
    assert BERLIN.hour(NIGHT) == "02:14"
    assert BERLIN.day(NIGHT) == "Sun 01 Feb 02:14:07"
    assert BERLIN.label(NIGHT) == "Europe/Berlin (CET)"
    assert BERLIN.iso(NIGHT) == "2026-02-01T02:14:07+01:00"


def test_a_time_that_a_program_wrote_becomes_local_and_other_text_stays():
    assert BERLIN.second_of("2026-11-19T23:46:07.244Z") == "00:46:07"
    assert BERLIN.second_of("1.2 s") == "1.2 s"


def test_times_within_a_sentence_become_local():
    said = BERLIN.localised("job 4 was done at 2026-02-01 01:14:07Z; again")

    assert said == "job 4 was done at Sun 01 Feb 02:14:07; again"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, "–"), (3.94, "3.9 s"), (47, "47 s"), (200, "3 min 20 s"), (7500, "2 h 05 min"),
     (273600, "3 d 4 h")],
)  # fmt: skip
def test_durations(seconds, text):
    assert wording.duration(seconds) == text


def test_what_was_not_counted_further_is_said_so():
    assert wording.capped(10_000) == "10,000"
    assert wording.capped(10_001) == "10,000+"


def test_stored_json_is_laid_out_and_other_text_left_alone():
    assert wording.pretty('{"a":1}') == '{\n  "a": 1\n}'
    assert wording.pretty("{broken") == "{broken"


def test_a_reason_begins_as_a_sentence_and_names_sites_as_people_do():
    told = wording.sentence("the breaker of site:shop.example.com is open ")

    assert told == "The breaker of shop.example.com is open"
    assert wording.sentence("") == ""


def test_the_hour_after_a_while_is_local():
    assert BERLIN.after(NIGHT, 3600) == "03:14"


def test_only_web_addresses_are_linked_to():
    assert wording.weblink("https://app.test/s-1") == "https://app.test/s-1"
    for value in ("javascript:alert(1)", "//app.test", " https://app.test", "", None, {"a": 1}):
        assert wording.weblink(value) == ""


def test_what_is_between_ticks_and_commands_are_shown_as_code_and_all_is_escaped():
    assert wording.ticked("`.a<b>` matched; mend it: launcher.py rehearse") == (
        "<code>.a&lt;b&gt;</code> matched; mend it: <code>launcher.py rehearse</code>"
    )
