"""Jobs that can only fail end at once, although their profile is closed; real jobs wait for it."""

from __future__ import annotations

import pytest

from tests.integration.profile_fixtures import add, enqueue, worker
from worker.claiming.drain import Drain
from worker.claiming.search_trail import News
from worker.guards import limits
from worker.models import Cause, Ending, Outcome, Partition, Rejection
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change
from worker.profiles.states import State
from worker.queue import pause

__all__ = ["add", "enqueue", "worker"]


@pytest.fixture
def closed(database, add):
    """A profile that waits for a person, and one of another account."""
    add("p1", account_id="a1", allowed_actions=("visit", "checkout"))
    add("p2", account_id="a2")
    store.set_state(database, "p1", State.QUARANTINED, reason="a prompt", by="me")


def ended(worker) -> list[tuple[int, str]]:
    """Name what the worker ends of all that it can get, with the reasons."""
    found = []
    worker.look_again()
    while (answer := worker.gate_answer()) is not None:
        assert isinstance(answer, Rejection), answer
        worker.queue.end(answer.claim, answer.ending)
        found.append((answer.claim.job_id, answer.ending.reason))
        worker.look_again()
    return found


@pytest.mark.parametrize(
    ("wants", "reason"),
    [
        ({"profile": "p1", "account": "a2"}, "profile p1 belongs to account a1, not to a2"),
        ({"profile": "p1", "account": "typo"}, "profile p1 belongs to account a1, not to typo"),
        ({"profile": "p1", "actions": ["pay"]}, "profile p1 does not allow 'pay'"),
        ({"account": "a1", "actions": ["pay"]}, "profile p1 does not allow 'pay'"),
        ({"profile": "p1", "proxy": "fast"}, "the job wants proxy fast, profile p1 has None"),
        ({"account": "a1", "profil": "p1"}, "manifest: unknown field 'profil'"),
        ({"profile": "p1", "temporary": "no"}, "manifest.temporary: 'no'; use true or false"),
    ],
)
def test_what_no_wait_can_help_ends_while_its_profile_is_closed(
    worker, enqueue, closed, wants, reason
):
    waiting = enqueue(profile="p1")
    columns = {name: wants[name] for name in ("profile", "account") if name in wants}
    others = {name: value for name, value in wants.items() if name not in columns}
    hopeless = enqueue(**columns, **others)

    ((job, said),) = ended(worker)

    assert job == hopeless
    assert said.startswith(reason)
    assert worker.queue.get(hopeless)["status"] == "error"
    assert worker.queue.get(waiting)["status"] == "pending"
    assert worker.queue.get(waiting)["attempts"] == 0


def test_an_account_that_does_not_exist_ends_its_job_though_it_is_limited(
    database, worker, enqueue
):
    limits.set_limit(database, "account:typo", concurrent=0, per_minute=None, by="me")
    job = enqueue(account="typo")

    ((ended_job, reason),) = ended(worker)

    assert (ended_job, reason[:27]) == (job, "there is no account typo; a")


def test_what_the_run_foresees_ends_a_job_that_its_own_host_could_do(
    database, worker, enqueue, closed
):
    over, real = enqueue(profile="p1"), enqueue(profile="p1")
    elsewhere = enqueue(profile="p2")
    database.run_statement("UPDATE profiles SET host = 'far', host_id = 'x' WHERE id = 'p2'")
    worker.candidates.hopeless.foresee = lambda job: (
        Ending(Outcome.ERROR, "over its cap") if job.job_id in (over, elsewhere) else None
    )

    # What another host makes of a job, its tasks and its secrets, is not known here.
    assert ended(worker) == [(over, "over its cap")]
    assert [worker.queue.get(job)["status"] for job in (real, elsewhere)] == ["pending"] * 2


def test_a_job_that_was_mended_meanwhile_is_not_ended(database, worker, enqueue, closed):
    enqueue(profile="p1", account="a2")
    worker.look_again()
    assert worker.candidates.hopeless.has_next()

    database.run_statement("UPDATE profiles SET account_id = 'a2' WHERE id = 'p1'")

    assert worker.gate_answer() is None


def test_jobs_of_an_order_keep_to_it(database, queue, worker, enqueue, closed):
    first, second = enqueue(profile="p1"), enqueue(profile="p1", account="a2")
    database.run_statement("UPDATE work_queue SET order_key = 'k'")

    assert ended(worker) == []

    database.run_statement(f"DELETE FROM work_queue WHERE id = {first}")
    assert [job for job, _ in ended(worker)] == [second]


def test_a_job_behind_one_that_failed_for_its_whole_order_ends(database, worker, enqueue, closed):
    account_rules.set_rules(database, "a1", Change(is_ordered=True, on_failure="stop"), by="me")
    failed, behind, last = (enqueue(account="a1") for _ in range(3))
    database.run_statement(f"UPDATE work_queue SET status = 'error' WHERE id = {failed}")

    told = ended(worker)

    assert [job for job, _ in told] == [behind, last]
    assert told[0][1].startswith(f"not done, because job {failed} before it failed")


def test_a_paused_queue_is_left_as_it_is(database, worker, enqueue, closed):
    enqueue(profile="p1", account="a2")
    pause.pause(database, "it rains", "me", "default")

    assert ended(worker) == []


def test_a_run_does_not_go_home_before_it_has_looked_for_them(database, worker, enqueue, closed):
    enqueue(profile="p1")
    worker.look_again()
    assert worker.gate_answer() is None
    hopeless = enqueue(profile="p1", account="a2")
    drain = Drain(
        database, Partition(0, 1), worker.closures, worker.candidates,
        help_others=True, wait_seconds=0.0,
    )  # fmt: skip

    assert not drain.is_over()
    assert worker.gate_answer().claim.job_id == hopeless
    database.run_statement(f"UPDATE work_queue SET status = 'error' WHERE id = {hopeless}")
    drain._ask_at = 0.0
    assert drain.is_over()


@pytest.fixture
def reads(worker, monkeypatch):
    """Counts the pages of jobs that are read for this."""
    counted = []
    read = worker.candidates.hopeless._ready_jobs.read
    monkeypatch.setattr(
        type(worker.candidates.hopeless._ready_jobs),
        "read",
        lambda self, *args: counted.append(args) or read(*args),
    )
    return counted


def look(worker) -> bool:
    worker.candidates.hopeless._look_at = 0.0
    return worker.candidates.hopeless.has_next()


def test_nothing_is_read_where_no_owner_is_closed(worker, enqueue, add, reads):
    add("p1")
    enqueue(profile="p1")

    assert not any(look(worker) for _ in range(3))
    assert reads == []


def test_nothing_is_read_again_while_nothing_has_changed(database, worker, enqueue, closed, reads):
    enqueue(profile="p1")
    news = [News(1)]
    worker.candidates.hopeless._news = lambda: news[0]

    assert not any(look(worker) for _ in range(6))
    assert len(reads) == 1

    enqueue(profile="p1", account="a2")
    news[0] = News(2)
    assert look(worker)


def test_all_of_many_are_looked_through(database, worker, enqueue, closed, monkeypatch):
    monkeypatch.setattr("worker.claiming.hopeless_jobs.AT_ONCE", 3)
    for _ in range(8):
        enqueue(profile="p1")
    hopeless = enqueue(profile="p1", account="a2")

    assert worker.candidates.hopeless.look_through(lambda: False)
    assert worker.candidates.hopeless.next().job_id == hopeless


def test_the_cause_is_told(worker, enqueue, closed):
    enqueue(profile="p1", account="a2")
    worker.look_again()

    assert worker.gate_answer().ending.cause is Cause.PROFILE
