"""Whoever finds a vanished worker's job finds its irreversible step too: invariant 14."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import pytest

from worker.models import Outcome, Status
from worker.queue import irreversible
from worker.recovery import deaths, obituary
from worker.recovery import sweep as sweeping
from worker.recovery.places import Places

STEP = "submitting order"
sweep = partial(sweeping.sweep, server_grace_seconds=0)


@pytest.fixture
def places(settings, tmp_path) -> Places:
    return Places(settings, tmp_path / "state", tmp_path / "errors")


@pytest.fixture
def claim(queue, claim_as):
    queue.enqueue("order", {}, max_attempts=9)
    return claim_as()


def death_of(claim, **known: Any) -> deaths.Death:
    return {
        "slot": 0,
        "incarnation": claim.incarnation,
        "outcome": "crashed",
        "ending": "killed by SIGKILL",
        "job_id": claim.job_id,
        "fence": claim.fence,
        "label": "order",
        "step": "",
        "step_kind": "guessed",
        "seconds": 1.0,
        "output": [],
        **known,
    }


def test_a_sweep_from_any_host_leaves_evidence_of_it(database, queue, claim, expire, places):
    irreversible.begin(database, claim, STEP)
    expire(claim)

    (told,) = sweep(database, queue, dry_run=True)
    (swept,) = sweep(database, queue, places=places)

    assert told.status is swept.status is Status.ERROR
    assert swept.reason.startswith(f"may be half done at '{STEP}': worker 0 vanished")
    (attempt,) = queue.history(claim.job_id)
    report = json.loads((places.errors_dir / attempt["evidence"] / "error.json").read_text())
    assert (report["irreversible_step"], report["outcome"]) == (STEP, "swept")
    assert sweep(database, queue) == []


def test_an_ordinary_job_that_is_swept_leaves_none(database, queue, claim, expire, places):
    expire(claim)

    (swept,) = sweep(database, queue, places=places)

    assert swept.status is Status.PENDING
    assert not places.errors_dir.exists()


@pytest.mark.parametrize("outcome", ["crashed", "timed_out", "handed_back"])
@pytest.mark.parametrize("known_by", ["row", "board"])
def test_a_death_at_the_step_ends_the_job_whoever_knows(
    database, queue, claim, places, outcome, known_by
):
    shown = {}
    if known_by == "row":
        irreversible.begin(database, claim, STEP)
    else:
        # As on a server that has lost its last commits.
        shown = {"step": STEP, "step_kind": "irreversible"}

    (settled,) = deaths.settle(database, queue, death_of(claim, outcome=outcome, **shown), places)

    assert settled.status is Status.ERROR
    assert settled.reason.startswith(f"may be half done at '{STEP}': ")
    assert queue.get(claim.job_id)["irreversible_step"] == STEP
    assert (places.errors_dir / queue.history(claim.job_id)[0]["evidence"] / "error.json").exists()


def test_a_death_at_a_step_that_is_only_guessed_is_tried_again(database, queue, claim, places):
    death = death_of(claim, step=STEP)

    (settled,) = deaths.settle(database, queue, death, places)

    assert settled.status is Status.PENDING


def test_the_boards_step_is_not_said_of_another_claim(database, queue, claim, places):
    death = death_of(claim, step=STEP, step_kind="irreversible", job_id=claim.job_id + 1)

    (settled,) = deaths.settle(database, queue, death, places)

    assert settled.status is Status.PENDING
    assert settled.reason.startswith(deaths.BEFORE_IT_BEGAN)


def test_a_death_that_an_older_nightshift_has_kept_is_understood(claim):
    death = death_of(claim, step=STEP)
    del death["step_kind"]

    ending = obituary.ending_of(death)

    assert (ending.outcome, ending.irreversible_step) == (Outcome.CRASHED, None)
