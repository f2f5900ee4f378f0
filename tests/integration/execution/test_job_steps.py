"""The steps of a task: an irreversible one is kept before the task goes on: invariant 14."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.integration.profile_fixtures import state
from worker.database.client import Database
from worker.errors import ClaimLost, DatabaseUnavailable, NightshiftError, StepTaken
from worker.execution import job_steps as module
from worker.execution.job_steps import JobSteps
from worker.execution.profile_use import ProfileUse
from worker.execution.stop_request import StopRequest
from worker.models import StepKind
from worker.profiles import lease_endings
from worker.system.board import Board

STEP = "placing order"


@pytest.fixture
def claim(worker, enqueue, add):
    add("p1")
    enqueue("p1")
    return worker.claim()


@pytest.fixture
def away(database, tmp_path):
    nowhere = replace(database.settings, unix_socket=str(tmp_path / "no.sock"))
    with closing(Database(nowhere, patience_seconds=float("inf"))) as db:
        yield db


def steps_of(db, claim, *, seconds: float = 60.0, guesses: bool = True) -> JobSteps:
    session = SimpleNamespace(page=SimpleNamespace(url="https://shop.example/cart"))
    environment = ProfileUse(db, session, proxy_use=None, holder="w")  # type: ignore[arg-type]
    environment.enter(claim)
    entry = Board(1).entries[0]
    entry.begin_job(claim.job_id, claim.fence, claim.attempt, "visit", seconds)
    steps = JobSteps(db, entry, environment, StopRequest())
    steps.enter(claim, guesses=guesses)
    return steps


def lease(database):
    return database.fetch_all("leases_of_profile", profile_id="p1")[0]


def test_it_is_in_the_row_the_lease_and_on_the_board_until_the_next_step(database, queue, claim):
    steps = steps_of(database, claim)
    steps.take_irreversible(STEP)

    assert queue.get(claim.job_id)["irreversible_step"] == STEP
    assert (lease(database)["last_step"], lease(database)["step_kind"]) == (STEP, "irreversible")
    assert (steps.entry.step, steps.entry.step_kind) == (STEP, StepKind.IRREVERSIBLE)
    assert steps.irreversible_at(None) == STEP

    steps.take("confirmed")

    assert queue.get(claim.job_id)["irreversible_step"] is None
    assert (lease(database)["last_step"], lease(database)["step_kind"]) == ("confirmed", "guessed")
    assert steps.entry.step_kind is StepKind.GUESSED
    assert steps.irreversible_at(None) is None


def test_an_ordinary_job_writes_nothing_into_its_row(database, queue, claim):
    before = queue.get(claim.job_id)["changed_at"]

    steps = steps_of(database, claim)
    steps.take("logged in")
    steps.take("read the price")

    assert queue.get(claim.job_id)["changed_at"] == before


def test_without_the_database_it_is_not_begun(away, claim):
    steps = steps_of(away, claim, seconds=1.0)
    began = time.monotonic()

    with pytest.raises(DatabaseUnavailable) as refusal:
        steps.take_irreversible(STEP)

    assert time.monotonic() - began < 10
    assert steps.irreversible_at(refusal.value) is None
    assert steps.entry.step_kind is StepKind.GUESSED


def test_a_task_that_goes_on_all_the_same_has_begun_it(away, claim):
    steps = steps_of(away, claim, seconds=0.5)
    with pytest.raises(DatabaseUnavailable) as refusal:
        steps.take_irreversible(STEP)
    because_of_it = RuntimeError("no database")
    because_of_it.__cause__ = refusal.value

    assert steps.irreversible_at(because_of_it) is None
    assert steps.irreversible_at(RuntimeError("something later")) == STEP


def test_a_claim_that_was_lost_begins_nothing(database, queue, claim):
    steps = steps_of(database, replace(claim, fence=claim.fence - 1))

    with pytest.raises(ClaimLost):
        steps.take_irreversible(STEP)

    assert queue.get(claim.job_id)["irreversible_step"] is None


def test_a_worker_that_must_end_at_once_begins_nothing(database, queue, claim):
    steps = steps_of(database, claim)
    steps.stop.is_abandoning = True

    with pytest.raises(NightshiftError, match="stopped before 'placing order'"):
        steps.take_irreversible(STEP)

    assert queue.get(claim.job_id)["irreversible_step"] is None


def test_an_end_that_could_not_be_written_is_written_with_the_next_step(
    database, queue, claim, away, monkeypatch
):
    monkeypatch.setattr(module, "END_SECONDS", 0.1)
    steps = steps_of(database, claim)
    steps.take_irreversible(STEP)

    steps.db = away
    steps.take("confirmed")
    # Nobody else knows that it was taken, so it is not tried again.
    assert steps.irreversible_at(RuntimeError()) == STEP
    assert queue.get(claim.job_id)["irreversible_step"] == STEP

    steps.db = database
    steps.take_undone("logged out")
    row = queue.get(claim.job_id)
    assert (row["irreversible_step"], row["taken_steps"]) == (None, f"\n{STEP}\n")
    assert steps.irreversible_at(RuntimeError()) is None


def test_a_step_that_came_to_nothing_is_not_kept_as_taken(database, queue, claim):
    steps = steps_of(database, claim)
    steps.take_irreversible("paying")
    steps.take_irreversible(STEP)
    steps.take_undone("declined")

    row = queue.get(claim.job_id)
    assert (row["irreversible_step"], row["taken_steps"]) == (None, "\npaying\n")


def test_a_step_of_an_earlier_attempt_is_refused_and_ends_the_job(database, queue, claim):
    for _ in range(2):
        steps = steps_of(database, claim)
        steps.take_irreversible("looking")
        steps.take_undone("nothing there")
    first = steps_of(database, claim)
    for _ in range(2):
        first.take_irreversible(STEP)
        first.take("order sent")

    later = steps_of(database, claim)
    with pytest.raises(StepTaken) as refusal:
        later.take_irreversible(STEP)

    assert later.irreversible_at(refusal.value) == STEP
    later.take("went on all the same")
    assert later.irreversible_at(RuntimeError("something later")) == STEP


def test_a_refusal_that_passes_through_a_last_step_begins_nothing(away, claim):
    steps = steps_of(away, claim, seconds=0.5)
    with pytest.raises(DatabaseUnavailable) as refusal:
        steps.take_irreversible(STEP)
    steps.take("logged out")

    assert steps.irreversible_at(refusal.value) is None
    assert steps.irreversible_at(RuntimeError("something later")) == STEP


@pytest.mark.parametrize(
    ("step", "is_irreversible", "guesses", "was_given_up", "wanted"),
    [
        (STEP, True, True, False, True),
        (STEP, True, False, True, True),
        ("submitting order", False, True, False, True),
        ("submitting order", False, True, True, False),
        ("submitting order", False, False, False, False),
        ("logged in", False, True, False, False),
    ],
)
def test_what_may_be_half_done_puts_the_profile_up_for_review(
    database, claim, step, is_irreversible, guesses, was_given_up, wanted
):
    steps = steps_of(database, claim, guesses=guesses)
    (steps.take_irreversible if is_irreversible else steps.take)(step)
    steps.doubt(was_given_up=was_given_up)
    steps.profile_use.session = SimpleNamespace(close_profile=lambda: None)  # type: ignore[assignment]

    steps.profile_use.leave()

    assert state(database) == ("review_required" if wanted else "available")


@pytest.mark.parametrize(
    ("step", "is_irreversible", "guesses", "wanted"),
    [
        (STEP, True, False, "quarantined"),
        ("submitting order", False, True, "quarantined"),
        ("submitting order", False, False, "stale"),
    ],
)
def test_so_does_a_lease_that_nobody_explains(
    database, claim, step, is_irreversible, guesses, wanted
):
    steps = steps_of(database, claim, guesses=guesses)
    (steps.take_irreversible if is_irreversible else steps.take)(step)

    lease_endings.end_unexplained(database, "p1", claim.lease_fence, author="w", reason="gone")

    assert state(database) == wanted
