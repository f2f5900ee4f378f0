"""A profile that its provider cannot give rests with all its jobs, and longer each time."""

from __future__ import annotations

import pytest

from tests.conftest import because
from tests.integration.guards.conftest import breaker, pass_time
from tests.integration.profile_fixtures import add, enqueue
from worker.guards import breakers, rests
from worker.models import Cause, Claim, Ending, Outcome
from worker.profiles import lease_endings

__all__ = ["add", "enqueue"]

SAID = "AdsPower says that profile p1 (adspower) is open elsewhere: in use by [ada]"


@pytest.fixture
def jobs(add, enqueue) -> list[int]:
    add("p1", "p2")
    return [enqueue("p1") for _ in range(3)]


def end(worker, claim: Claim, *, rests_profile: bool = True, after: float | None = None) -> None:
    """Hand a job back as an executor does, let its profile go, and tell the gate."""
    cause = Cause.CONTENTION if rests_profile else Cause.CODE
    ending = Ending(
        Outcome.HANDED_BACK,
        SAID,
        cause,
        retry_after_seconds=after,
        rests_profile=rests_profile,
    )
    worker.queue.hand_back(claim, because(SAID))
    worker.gate.tell(claim, ending)
    lease_endings.release(
        worker.db, claim.profile_id, claim.lease_fence, author="w", reason="handed back"
    )


def test_one_job_finds_out_for_all_of_the_profile(database, queue, worker, jobs, enqueue):
    end(worker, worker.claim_now())
    other = enqueue("p2")

    claim = worker.claim_now()

    assert claim is not None
    assert claim.job_id == other
    assert worker.claim_now() is None
    assert [queue.get(job)["attempts"] for job in jobs] == [0, 0, 0]
    found = rests.of_profile(database, "p1")
    assert SAID in found.reason
    assert 0 < found.seconds <= breakers.COOLDOWN_SECONDS


def test_each_time_in_vain_it_rests_twice_as_long(database, worker, jobs):
    waits = []
    for _ in range(4):
        claim = worker.claim_now()
        assert claim is not None
        end(worker, claim)
        waits.append(round(float(breaker(database)["wait_seconds"]), -1))
        pass_time(database)

    assert waits == [30, 60, 120, 240]


def test_what_the_vendor_asks_for_is_kept_to(database, worker, jobs):
    end(worker, worker.claim_now(), after=300.0)

    assert float(breaker(database)["wait_seconds"]) > 290


def test_a_job_that_gets_the_profile_ends_the_rest_whatever_becomes_of_it(database, worker, jobs):
    end(worker, worker.claim_now())
    pass_time(database)
    canary = worker.claim_now()
    assert canary.canary == "profile:p1"

    end(worker, canary, rests_profile=False)

    assert rests.of_profile(database, "p1") is None
    assert worker.claim_now() is not None


def test_a_breaker_that_opened_on_failing_tasks_is_no_rest(database, worker, jobs):
    database.run_statement(
        "INSERT INTO breakers (name, state, window_start, openings, failing, until)"
        " VALUES ('profile:p1', 'open', UTC_TIMESTAMP(6), 1, '{\"visit\": 8}',"
        " UTC_TIMESTAMP(6) - INTERVAL 1 SECOND)"
    )
    canary = worker.claim_now()
    assert canary.canary == "profile:p1"

    end(worker, canary, rests_profile=False)

    assert breaker(database)["state"] != "closed"


def test_a_profile_that_a_person_keeps_open_is_tried_on(database, worker, jobs):
    breakers.close_by_hand(database, "profile:p1", keep=True, by="ada")
    end(worker, worker.claim_now())

    assert worker.claim_now() is not None


def test_a_canary_of_its_site_says_nothing_of_the_site(database, queue, worker, add):
    add("p1")
    queue.enqueue("visit", {"url": "https://shop.example/"}, profile_id="p1")
    breakers.open_by_hand(database, "site:shop.example", 3600, "a test", "ada")
    database.run_statement(
        "UPDATE breakers SET until = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND, held = NULL"
    )
    canary = worker.claim_now()
    assert canary.canary == "site:shop.example"

    end(worker, canary)

    states = {row["name"]: row["state"] for row, _ in breakers.all_breakers(database)}
    assert states == {"profile:p1": "open", "site:shop.example": "open"}
