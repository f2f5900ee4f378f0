"""A worker as far as the gate: what it may claim, and how its claims fail."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.conftest import QueueForTests, because
from worker.claiming.candidates import Candidates
from worker.claiming.closed_keys import ClosedKeys
from worker.claiming.gate import Gate
from worker.database.client import Database
from worker.guards import breakers
from worker.models import Cause, Claim, Ending, Outcome, Owner, Partition, Rejection

SHOP, OTHER = "https://www.shop.example:8443/p?next=http://evil.example/", "http://other.example/"
WHY = because("net::ERR_CONNECTION_RESET")


class Worker:
    """One worker's way to its claims, with a connection of its own."""

    def __init__(self, settings, slot: int = 0, total: int = 1) -> None:
        self.db = Database(settings)
        self.queue = QueueForTests(self.db)
        self.closures = ClosedKeys(self.db)
        self.owner = Owner(slot, 1000 + slot)
        self.candidates = Candidates(self.db, Partition(slot, total), closures=self.closures)
        self.gate = Gate(self.db, self.queue, self.closures, canary_seconds=60.0)

    def gate_answer(self) -> Claim | Rejection | None:
        return self.gate.claim(self.owner, self.candidates)

    def claim(self) -> Claim | None:
        answer = self.gate_answer()
        assert not isinstance(answer, Rejection), answer
        return answer

    def look_again(self) -> None:
        """Forget what was read: a moment has passed."""
        self.closures._read_at = float("-inf")
        self.candidates._read_at = float("-inf")
        self.candidates._refresh_at = self.candidates._look_at = 0.0
        self.candidates.hopeless._look_at = 0.0
        self.candidates.hopeless._known_then = self.candidates.hopeless._pages = None
        self.candidates.look_everywhere()

    def claim_now(self) -> Claim | None:
        self.look_again()
        return self.claim()

    def close(self) -> None:
        self.db.close()


def fail(worker: Worker, claim: Claim, *, blames_site: bool = True) -> None:
    worker.queue.hand_back(claim, WHY)
    worker.gate.tell(claim, failure(WHY["reason"], blames_site=blames_site))


def failure(reason: str, *, blames_site: bool = True) -> Ending:
    """A failed attempt, as the breakers are told of it."""
    return Ending(Outcome.RETRY, reason, Cause.SITE if blames_site else Cause.CODE)


def trip(worker: Worker) -> None:
    for _ in range(breakers.SPIKE):
        claim = worker.claim_now()
        assert claim is not None
        fail(worker, claim)


@pytest.fixture
def worker(database):
    with closing(Worker(database.settings)) as worker:
        yield worker
