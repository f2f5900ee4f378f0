"""docs/profiles.md tells the states, the manifest, the causes and the events as they are."""

from __future__ import annotations

import re
from pathlib import Path

from worker.models import Cause
from worker.profiles import doubts, manifest
from worker.profiles.states import LEASABLE, TRANSITIONS, State

PAGE = (Path(__file__).parents[3] / "docs" / "profiles.md").read_text(encoding="utf-8")
READINESS = "".join(
    Path(manifest.__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("readiness.py", "standing.py")
)


def table(heading: str) -> dict[str, str]:
    """Read the first two columns of the table with this heading."""
    lines = PAGE.split(f"| {heading} |", 1)[1].splitlines()[2:]
    rows = {}
    for line in lines:
        if not line.startswith("|"):
            break
        first, second = line.strip("| ").split(" | ")[:2]
        rows[first] = second
    return rows


def test_the_transition_table_is_the_one_of_the_code():
    told = {State(old): set(map(State, new.split(", "))) for old, new in table("from").items()}

    assert told == {old: set(new) for old, new in TRANSITIONS.items()}


def test_the_diagram_has_no_way_that_the_table_lacks():
    ways = re.findall(r"^  (\w+) --> (\w+)", PAGE, re.MULTILINE)

    assert len(ways) >= 10
    for old, new in ways:
        assert State(new) in TRANSITIONS[State(old)]


def test_every_field_of_a_manifest_is_described():
    assert {name.strip("`") for name in table("field")} == set(manifest._KNOWN)


def test_every_cause_is_described():
    assert {name.strip("`") for name in table("cause")} == {cause.value for cause in Cause}


def test_every_event_of_a_refusal_is_named():
    names = set(
        re.findall(
            r'(?:NotReady\(|event = |else |CONFLICT = |OVERDUE = |PAUSED = )"([a-z_]+)"', READINESS
        )
    )
    names |= {f"profile_{state}" for state in State if state not in LEASABLE}

    assert names == set(re.findall(r"`([a-z_]+)`", " ".join(table("question").values())))


def test_every_word_that_is_guessed_by_is_listed():
    listed = re.search(r"guessed words are ([^.]*)\.", " ".join(PAGE.split()))
    assert listed is not None
    words = re.findall(r"`(\w+ing)`", listed[1])

    assert len(words) == len(doubts.GUESSED_STEMS)
    for word, stem in zip(words, doubts.GUESSED_STEMS, strict=True):
        assert word.startswith(stem)
        assert doubts.about_step(f"{word} it")
    for other in ("placing order", "buying", "paid", "resubmitted", "order sent"):
        assert doubts.about_step(other) is None
