"""Done and failed over time."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta

import pytest

from worker.reporting.charts.rates import Point, RateChart, draw, rounded_up
from worker.reporting.charts.time_axis import TimeAxis

START = datetime.fromisoformat("2026-01-31T18:00:00")


def chart(points, **given):
    axis = TimeAxis.around(START, START + timedelta(hours=13), UTC)
    return RateChart(axis, 60.0, points, "Done and failed", "In words.", **given)


def test_a_gap_lies_on_the_ground():
    points = [Point(START, 50, 0), Point(START + timedelta(minutes=5), 100, 3)]
    drawn = draw(chart(points))

    ET.fromstring(drawn)
    assert 'd="M0 116V58H1V116H5V0H6V116z"' in drawn
    assert re.search(r'class="s-bad"[^>]* d="M5.5 44v-', drawn)


def test_what_is_expected_is_dashed_and_the_deadline_written():
    drawn = draw(
        chart(
            [Point(START, 10, 0)],
            now=START + timedelta(hours=8),
            ready_at=START + timedelta(hours=12),
            ready_rate=8,
            deadline=START + timedelta(hours=13),
        )
    )

    ET.fromstring(drawn)
    assert drawn.count('class="dash"') == 2
    assert ">now</text>" in drawn
    assert ">07:00</text>" in drawn


@pytest.mark.parametrize(("most", "scale"), [(0, 1), (1, 1), (3, 5), (10, 10), (70, 100)])
def test_scales_end_at_round_numbers(most, scale):
    assert rounded_up(most) == scale


def test_nothing_at_all_is_an_empty_picture():
    ET.fromstring(draw(chart([])))
