"""A drill with any damage is not clean."""

from __future__ import annotations

import pytest

from worker.drill.ledger import Findings
from worker.drill.report import Report


@pytest.mark.parametrize(
    "name",
    ["lost", "good_in_error", "finished_twice", "overlapping", "leftovers", "broken_promises"],
)
def test_a_report_with_any_damage_is_not_clean_and_names_it(name):
    findings = Findings(jobs=1, done=1)
    report = Report("a server", 2, 1, 3.0, 1, findings)
    assert report.is_clean
    assert report.lines()[-1].startswith("clean")

    getattr(findings, name).append("this one")

    assert not report.is_clean
    assert report.as_json()["is_clean"] is False
    assert "    this one" in report.lines()
    assert report.lines()[-1].startswith("NOT CLEAN")


def test_a_drill_that_was_broken_off_is_not_clean():
    report = Report("a server", 2, 1, 3.0, 1, Findings(), broken_off="no job has ended")

    assert not report.is_clean
    assert "  BROKEN OFF: no job has ended" in report.lines()
