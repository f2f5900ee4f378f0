"""What a task may ask for when it adds jobs, and how it is kept."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from worker.errors import PayloadError, UsageError
from worker.intake.added_jobs import row


def test_a_row_is_json_and_leaves_open_what_is_taken_over():
    moment = datetime(2026, 1, 31, 18, 0, tzinfo=UTC)

    made = row("price", {"url": "https://e.org"}, not_before=moment, dedupe_key="k")

    assert json.loads(json.dumps(made)) == made
    assert made["not_before"] == "2026-01-31 18:00:00"
    assert (made["queue"], made["priority"], made["depth"]) == (None, None, None)
    assert (made["task"], made["dedupe_key"]) == ("price", "k")


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"prioritty": 1}, "there is no option prioritty"),
        ({"queue": "a b"}, "a queue's name has 1 to 50"),
        ({"priority": 2**40}, "priority=1099511627776"),
        ({"depth": -1}, "depth=-1"),
        ({"dedupe_key": ""}, "dedupe_key=''"),
        ({"order_on_failure": "skip"}, "order_on_failure is for jobs with an order_key"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_the_task(options, problem):
    with pytest.raises(UsageError, match=problem):
        row("visit", {}, **options)


def test_a_payload_must_be_one():
    with pytest.raises(PayloadError, match="give a dict"):
        row("visit", ["https://e.org"])
