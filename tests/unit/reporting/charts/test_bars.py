"""Attempts on a time axis: in their place, wide enough to be seen, with their words escaped."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

from worker.reporting.charts import bars
from worker.reporting.charts.bars import Bar
from worker.reporting.charts.time_axis import TimeAxis

START = datetime(2026, 1, 31, 23, 4)  # noqa: DTZ001 - as the database has it
SVG = "{http://www.w3.org/2000/svg}"


def drawn(*made):
    axis = TimeAxis.around(START, START + timedelta(minutes=6), UTC)
    text = bars.draw(axis, made, "two attempts")
    return ElementTree.fromstring(
        text.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    )


def test_a_bar_is_where_it_was_and_as_long():
    tree = drawn(Bar(START, START + timedelta(minutes=3), "f-bad", "attempt 1"))

    (bar,) = tree.findall(f"{SVG}rect")

    assert (bar.get("x"), bar.get("width"), bar.get("class")) == ("0.00%", "50.00%", "f-bad")


def test_a_short_one_can_be_seen_and_stays_inside():
    end = START + timedelta(minutes=6)
    tree = drawn(Bar(end - timedelta(seconds=1), end, "f-ok", "attempt 2"))

    (bar,) = tree.findall(f"{SVG}rect")

    assert float(bar.get("x").rstrip("%")) < 99
    assert bar.get("width") == str(bars.LEAST_PIXELS)


def test_its_words_are_told_and_escaped():
    tree = drawn(Bar(START, START + timedelta(minutes=3), "f-bad", "attempt 1: <b>timed out</b>"))

    assert tree.find(f"{SVG}rect/{SVG}title").text == "attempt 1: <b>timed out</b>"
    assert "<b>" in tree.find(f"{SVG}desc").text


def test_waits_are_written_where_there_is_room_and_always_told():
    minute = timedelta(minutes=1)
    tree = drawn(
        Bar(START, START + minute, "f-warn", "attempt 1", name="1"),
        Bar(
            START + 3 * minute, START + 4 * minute, "f-warn", "attempt 2", name="2", gap="wait <2>"
        ),
        Bar(
            START + 4.2 * minute,
            START + 5 * minute,
            "f-bad",
            "attempt 3",
            name="3",
            gap="wait 12 s",
        ),
    )

    written = {text.text for text in tree.findall(f"{SVG}text")}
    assert {"1", "2", "3", "wait <2>"} <= written
    assert "wait 12 s" not in written
    assert "wait <2>; attempt 2; wait 12 s; attempt 3" in tree.find(f"{SVG}desc").text
