"""What is written is Prometheus' text format, whatever the names hold."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.reporting.exposition import Family, counter, gauge, number, render


def test_a_family_has_its_help_its_kind_and_its_samples():
    family = counter("nightshift_attempts_total", "Attempts.")
    family.add(3, {"task": "price", "outcome": "done"})

    assert render([family]) == (
        "# HELP nightshift_attempts_total Attempts.\n"
        "# TYPE nightshift_attempts_total counter\n"
        'nightshift_attempts_total{task="price",outcome="done"} 3\n'
    )


def test_a_family_without_samples_is_left_out():
    assert render([gauge("nightshift_slots", "Workers.")]) == ""


def test_a_label_cannot_end_its_line_or_its_quotes():
    family = gauge("nightshift_jobs", "Jobs.")
    family.add(1, {"task": 'a"} 9\nnightshift_up 0\r\\'})

    assert render([family]).splitlines()[2:] == [
        'nightshift_jobs{task="a\\"} 9\\nnightshift_up 0?\\\\"} 1'
    ]


def test_an_empty_label_is_unknown_and_a_long_one_is_cut():
    family = gauge("nightshift_jobs", "Jobs.")
    family.add(1, {"task": ""})
    family.add(1, {"task": "x" * 5000})

    empty, long = render([family]).splitlines()[2:]
    assert empty == 'nightshift_jobs{task="unknown"} 1'
    assert len(long) < 200


@pytest.mark.parametrize(
    ("value", "written"), [(3, "3"), (3.0, "3"), (0.25, "0.25"), (float("inf"), "+Inf")]
)
def test_numbers_are_written_as_prometheus_reads_them(value, written):
    assert number(value) == written


def test_a_histogram_ends_with_all_of_it():
    family = Family("nightshift_job_duration_seconds", "histogram", "Durations.")
    family.add_histogram([(0.5, 1), (2, 3)], 4, 9.5, {"task": "visit"})

    assert render([family]).splitlines()[2:] == [
        'nightshift_job_duration_seconds_bucket{task="visit",le="0.5"} 1',
        'nightshift_job_duration_seconds_bucket{task="visit",le="2"} 3',
        'nightshift_job_duration_seconds_bucket{task="visit",le="+Inf"} 4',
        'nightshift_job_duration_seconds_sum{task="visit"} 9.5',
        'nightshift_job_duration_seconds_count{task="visit"} 4',
    ]


@given(st.text(max_size=200))
def test_every_sample_is_one_line(text):
    family = gauge("nightshift_jobs", "Jobs.")
    family.add(1, {"task": text})

    # str.splitlines would split at more than the format does.
    assert render([family]).count("\n") == 3
    assert render([family]).encode()


@pytest.mark.skipif(shutil.which("promtool") is None, reason="deploy/setup-tests.sh gets promtool")
def test_promtool_accepts_strange_names():
    family = gauge("nightshift_jobs", "Jobs\nby \\ status.")
    family.add(1, {"task": 'quoted " back\\slash \n line ☂'})

    checked = subprocess.run(
        ["promtool", "check", "metrics"],
        check=False,
        input=render([family]),
        text=True,
        capture_output=True,
    )

    assert (checked.returncode, checked.stdout + checked.stderr) == (0, "")
