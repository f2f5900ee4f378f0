"""Small pictures beside a figure."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from worker.reporting.charts import shares, trend
from worker.reporting.charts.marks import Mark, mark
from worker.reporting.charts.shares import Part

EVIL = '"><script>alert(1)</script>'


def test_bars_are_as_high_as_their_share_of_the_highest():
    drawn = trend.bars([0, 10, 40], label="per 5 min", left="22:00", right="02:30")

    ET.fromstring(drawn)
    assert 'd="M1.1 40v-10h.8V40zM2.1 40v-40h.8V40z"' in drawn
    assert "22:00" in drawn


def test_bars_of_nothing_are_a_line():
    ET.fromstring(trend.bars([], label="none"))
    ET.fromstring(trend.bars([0, 0], label="none"))


def test_a_line_needs_two_values_and_bears_zeros():
    assert trend.line([1.0], label="one") == ""
    ET.fromstring(trend.line([0.0, 0.0], label="zeros"))
    ET.fromstring(trend.line([3, 1, 4, 1, 5], label="five nights"))


def test_parts_of_a_whole_add_up_to_its_width():
    drawn = shares.stacked(
        [
            Part(3, "f-ok", "3 done"),
            Part(0, "f-bad", "none"),
            Part(1, "f-hold", "1 held back", True),
        ]
    )

    ET.fromstring(drawn)
    assert 'x="75.00%" width="25.00%"' in drawn
    assert "f-bad" not in drawn
    assert "url(#hatch)" in drawn


def test_labels_are_escaped():
    for drawn in (
        trend.bars([1], label=EVIL, left=EVIL, middle=EVIL, right=EVIL),
        trend.line([1, 2], label=EVIL),
        shares.stacked([Part(1, "f-ok", EVIL)]),
        mark(Mark.FAILED, EVIL),
    ):
        ET.fromstring(drawn)
        assert "<script" not in drawn


def test_a_meter_never_leaves_its_box():
    assert 'width="100%" height="4" rx="2"/></svg>' in shares.meter(7.0)
