"""Lanes as a picture: every worker has one, and strangers' words stay words."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from worker.reporting.charts.bands import Band, Shade
from worker.reporting.charts.marks import definitions
from worker.reporting.charts.time_axis import TimeAxis
from worker.reporting.charts.timeline import Cell, LaneChart, Moment, Row, draw, names

START = datetime.fromisoformat("2026-01-31T17:00:00")
EVIL = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'\x00\x1b[31m"


def minutes(count):
    return START + timedelta(minutes=count)


def chart(**given):
    rows = [
        Row("0", "Worker 0", [Cell(minutes(0), 5, 1, 0), Cell(minutes(10), 3, 0, 2)]),
        Row("1", "Worker 1", [Cell(minutes(30), 4, 0, 0)], [Moment(minutes(25), "restarted")]),
    ]
    axis = TimeAxis.around(START, minutes(715), ZoneInfo("Europe/Berlin"))
    given = {"rows": rows, "title": "t", "description": "d"} | given
    return LaneChart(axis, 600.0, **given)


def test_every_worker_has_a_lane_with_done_again_and_failed():
    drawn = draw(chart())

    ET.fromstring(drawn)
    assert drawn.count('class="area"') == 2
    assert (drawn.count('class="f-warn"'), drawn.count('class="f-bad"')) == (1, 1)
    assert drawn.count("#m-restart") == 1


def test_a_column_in_which_nothing_was_done_breaks_the_area():
    drawn = draw(chart())
    areas = re.findall(r'class="area"[^>]* d="([^"]*)"', drawn)

    # 17:00 and 17:10 touch.
    assert areas[0].count("M") == 1
    cells = [Cell(minutes(0), 5, 0, 0), Cell(minutes(30), 5, 0, 0)]
    apart = draw(chart(rows=[Row("0", "", cells)]))
    assert re.search(r'class="area"[^>]* d="([^"]*)"', apart)[1].count("M") == 2


def test_what_held_the_pool_up_is_shaded_and_short_things_can_still_be_seen():
    bands = [
        Band(Shade.PAUSE, minutes(135), minutes(141), "paused 6 min"),
        Band(Shade.OUTAGE, minutes(341), minutes(341) + timedelta(seconds=44), "database away"),
    ]
    drawn = draw(chart(bands=bands, ended=Moment(minutes(712), "drained")))

    ET.fromstring(drawn)
    assert 'class="b-bad band"' in drawn
    assert 'width="5"' in drawn
    assert "drained </tspan>05:52" in drawn


def test_a_strangers_words_stay_words():
    drawn = draw(
        chart(
            title=EVIL,
            description=EVIL,
            name=EVIL,
            rows=[Row(EVIL, EVIL, [], [Moment(minutes(5), EVIL)])],
            bands=[Band(Shade.BREAKER, minutes(5), minutes(50), EVIL)],
            ended=Moment(minutes(700), EVIL),
        )
    )

    for text in (drawn, names(chart(rows=[Row(EVIL, EVIL)]))):
        ET.fromstring(text)
        assert "<script" not in text
        assert "<img" not in text
        assert "\x00" not in text
        assert "\x1b" not in text


def test_pictures_hold_no_script_and_no_style_attribute():
    for text in (draw(chart()), names(chart()), definitions()):
        assert not re.search(r"\sstyle=|<style|<script|\son\w+=", text)


def test_an_empty_night_is_an_empty_picture():
    ET.fromstring(draw(chart(rows=[])))


def test_thousands_of_bands_and_restarts_are_drawn_up_to_a_bound():
    bands = [Band(Shade.BREAKER, minutes(i / 10), minutes(i / 10 + 1), "b") for i in range(5000)]
    row = Row("0", "", [], [Moment(minutes(i / 10), "r") for i in range(5000)])

    assert len(draw(chart(rows=[row], bands=bands))) < 100_000


def test_times_are_written_in_the_zone_at_whole_steps():
    axis = TimeAxis.around(START + timedelta(minutes=7), minutes(712), ZoneInfo("Europe/Berlin"))

    assert [axis.text(tick) for tick in (axis.ticks()[0], axis.ticks()[-1])] == ["18:00", "06:00"]
    assert axis.step == timedelta(hours=1)
    short = TimeAxis.around(START, START + timedelta(seconds=20), UTC)
    assert short.end - short.start == timedelta(minutes=1)
