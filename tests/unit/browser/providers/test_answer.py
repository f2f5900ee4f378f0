"""Places in an answer, and how answers are recognised."""

from __future__ import annotations

import re

import pytest

from worker.browser.providers.answer import MOST_SEARCHED, Answer, Condition, Mark

DATA = {
    "code": "0",
    "data": {"p-1": {"status": "Started"}, "ws": {"puppeteer": "ws://h"}},
    "list": [{"uuid": "P-0", "n": 1}, {"uuid": "p-1", "meta": {"by": "us"}, "n": 2}],
    "ok": True,
    "one": 1,
}
ANSWER = Answer(200, "", DATA)
VALUES = {"id": "p-1"}


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("data.ws.puppeteer", "ws://h"),
        ("data.{id}.status", "Started"),
        ("list.1.n", 2),
        ("list.7.n", None),
        ("list[uuid={id}].n", 2),
        ("list[uuid=p-0].n", 1),
        ("list[meta.by=us].n", 2),
        ("list[uuid=none].n", None),
        ("data[uuid=none]", None),
        ("code.deeper", None),
        ("nothing.at.all", None),
    ],
)
def test_a_path_leads_to_its_place(path, found):
    assert ANSWER.find(path, VALUES) == found


def test_a_list_is_looked_into_from_the_top():
    assert Answer(200, "", [{"uuid": "p-1", "n": 1}]).find("[uuid={id}].n", VALUES) == 1


@pytest.mark.parametrize(
    ("path", "values", "is_met"),
    [
        ("code", (0,), True),
        ("code", (1,), False),
        ("ok", (True,), True),
        # A 1 is no yes.
        ("one", (True,), False),
        ("data.{id}.status", ("started",), True),
        ("data.ws", (), True),
        ("data.none", (), False),
    ],
)
def test_a_condition_is_met_as_vendors_mean_it(path, values, is_met):
    assert ANSWER.meets(Condition(path, values), VALUES) is is_met
    assert not Answer(500, "", DATA).meets(Condition(path, values), VALUES)


def test_a_mark_is_a_status_a_text_or_a_field():
    mark = Mark(frozenset({409}), re.compile("too many", re.I), Condition("code", (100,)))

    assert mark.is_on(Answer(409, "", None))
    assert mark.is_on(Answer(200, "TOO MANY of them", None))
    assert mark.is_on(Answer(400, "", {"code": 100}))
    assert not mark.is_on(Answer(200, "", {"code": 0}))
    # A page of a megabyte is not searched through.
    assert not mark.is_on(Answer(200, " " * MOST_SEARCHED + "too many", None))
