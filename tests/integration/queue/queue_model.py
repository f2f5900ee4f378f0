"""A model of jobs and workers, and what must hold between it and the tables."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
)

from tests.conftest import QueueForTests
from tests.integration.standing_clock import Clock, empty
from worker.claiming.candidates import Candidates
from worker.database.client import Database
from worker.drill import finish_ledger
from worker.errors import ClaimLost
from worker.models import Claim, Partition

SLOTS = 3


@dataclass
class ModelJob:
    """What a job's row must say."""

    max_attempts: int
    status: str = "pending"
    attempts: int = 0
    fence: int = 0
    is_waiting: bool = False
    is_expired: bool = False
    crashes: int = 0
    blocks: int = 0
    finishes: int = 0


@dataclass
class ModelWorker:
    """A simulated worker: its incarnation, and the claim it believes to hold."""

    incarnation: int
    candidates: Candidates
    claim: Claim | None = None
    lost: list[Claim] = field(default_factory=list)


class QueueWorld(RuleBasedStateMachine):
    """Jobs and workers beside a model of them, compared after every step."""

    def __init__(self, db: Database, clock: Clock) -> None:
        super().__init__()
        self.db, self.clock = db, clock
        self.queue = QueueForTests(db, max_attempts=3)
        empty(db, ("work_queue", "job_attempts", "finish_ledger"))
        self.model: dict[int, ModelJob] = {}
        self.incarnations = 0
        self.workers = {slot: self._new_worker(slot) for slot in range(SLOTS)}

    @invariant()
    def every_row_is_as_the_model_says(self) -> None:
        rows = self.db.run_statement(
            "SELECT id, status, attempts, fence, not_before IS NOT NULL AS waits FROM work_queue"
        )
        found = {r["id"]: (r["status"], r["attempts"], r["fence"], bool(r["waits"])) for r in rows}
        assert found == {
            job_id: (job.status, job.attempts, job.fence, job.is_waiting)
            for job_id, job in self.model.items()
        }

    @invariant()
    def no_job_is_finished_twice_or_lost(self) -> None:
        finishes = finish_ledger.finishes(self.db)
        for job_id, job in self.model.items():
            assert finishes[job_id] == job.finishes <= 1
        assert sum(self.queue.counts().values()) == len(self.model)

    @invariant()
    def no_job_has_two_owners(self) -> None:
        held = [w.claim for w in self.workers.values() if w.claim and self._holds(w.claim)]
        assert len({claim.job_id for claim in held}) == len(held)

    def _settle(self, slot, write, then) -> None:
        worker = self.workers[slot]
        claim, worker.claim = worker.claim, None
        if claim is None:
            return
        worker.lost.append(claim)
        if not self._holds(claim):
            with pytest.raises(ClaimLost):
                write(claim)
            return
        write(claim)
        job = self.model[claim.job_id]
        job.is_expired = False
        then(job)

    def _take(self, worker: ModelWorker, claim: Claim) -> None:
        job = self.model[claim.job_id]
        assert job.status == "pending"
        assert not job.is_waiting
        job.status, job.is_expired = "in_progress", False
        job.attempts += 1
        job.fence += 1
        assert (claim.attempt, claim.fence) == (job.attempts, job.fence)
        worker.claim = claim

    def _holds(self, claim: Claim) -> bool:
        job = self.model[claim.job_id]
        return job.status == "in_progress" and job.fence == claim.fence

    def _back_or_error(self, job: ModelJob, *, is_waiting: bool = False) -> None:
        job.is_expired = False
        tries = job.attempts - job.blocks - job.crashes
        job.status = "error" if tries >= job.max_attempts else "pending"
        job.is_waiting = is_waiting and job.status == "pending"

    def _enqueue(self, max_attempts: int | None) -> None:
        job_id = self.queue.enqueue("visit", {}, max_attempts=max_attempts)
        self.model[job_id] = ModelJob(max_attempts or 3)

    def _ready(self) -> set[int]:
        jobs = self.model.items()
        return {i for i, job in jobs if job.status == "pending" and not job.is_waiting}

    def _expire(self, which: str, params: dict[str, int] | None = None) -> None:
        self.db.run_statement(
            "UPDATE work_queue SET lease_until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND "
            f"WHERE {which}",
            params,
        )

    def _new_worker(self, slot: int) -> ModelWorker:
        self.incarnations += 1
        return ModelWorker(self.incarnations, Candidates(self.db, Partition(slot, SLOTS)))
