"""The last words of a run: what it came to, and the next step."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worker.cli.summary import render
from worker.supervisor.view import AutoNumber, Summary, WorkerSummary


def held(*jobs, or_more=False):
    reason = "the breaker of site:a is open"
    return [{"key": "site:a", "reason": reason, "jobs": n, "or_more": or_more} for n in jobs]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, "run 7 drained after 1 m 40 s: 90 done, 10 failed, 3 retried, 1.0 jobs/s"),
        ({"stopped_by": "SIGTERM"}, "run 7 stopped (SIGTERM) after"),
        ({"fail_over": 9}, "\n  10 failed, and --fail-over allows 9\n"),
        ({"swept": 1, "crashes": 2}, "1 swept, 0 handed back, 2 worker deaths"),
        ({"left": None}, "left: unknown, because the database does not answer"),
        ({"left": {"pending": 0, "in_progress": 0, "waiting": 0}}, "left: nothing"),
        (
            {"left": {"pending": 5, "in_progress": 1, "waiting": 2}},
            "left: 5 pending (2 of them waiting for their time), 1 in progress",
        ),
        ({"workers": [WorkerSummary(0, 0, 0, 0, 3, "exited with code 69")]}, "run 7 gave up"),
        (
            {"auto_workers": AutoNumber(5, 2, 8, 32)},
            "  settled on 5 workers by itself, began with ",
        ),
        ({"held_back": held(1445)}, "run 7 stopped with 1,445 jobs held back after 1 m 40 s: 90 "),
        ({"held_back": held(9, or_more=True)}, "run 7 stopped with 9 or more jobs held back after"),
        ({"held_back": held(1)}, "  held back: 1 job: the breaker of site:a is open\n"),
        ({"held_back": held(*range(8))}, "  held back: 18 jobs: 3 other reasons\n"),
    ],
)
def test_the_last_words_say_what_the_run_came_to(tmp_path, changes, said):
    summary = Summary(run_id=7, seconds=100.0, done=90, failed=10, retried=3)

    text = "".join(f"{line}\n" for line in render(replace(summary, **changes), tmp_path))

    assert said in text
    assert f"evidence: {tmp_path}/<job>/<attempt>/" in text


def test_the_last_words_name_the_largest_groups_of_failures_and_the_next_step(tmp_path):
    group = {"group": "feedfacefeedface", "jobs": 1214, "label": "visit: Timeout"}
    groups = [{**group, "is_new": True}, {**group, "is_new": False}]
    summary = Summary(run_id=7, seconds=100.0, done=90, failed=10, retried=3)

    lines = render(replace(summary, groups=groups), tmp_path)

    assert "  1,214 × feedface NEW  visit: Timeout" in lines
    assert "  1,214 × feedface  visit: Timeout" in lines
    assert "  next: python launcher.py errors" in lines
