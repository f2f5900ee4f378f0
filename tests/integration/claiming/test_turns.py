"""Jobs of one order run by id, one after the other, whoever claims and whatever happens."""

from __future__ import annotations

import threading
import time
from contextlib import closing

import pytest

from tests.conftest import because
from tests.integration.claiming.rows import add_jobs, rows_read
from tests.integration.gate_worker import Worker
from worker.claiming import held_back, turns
from worker.claiming.drain import Drain
from worker.claiming.why import sentence_about
from worker.models import Ending, Outcome, Partition, Rejection
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change
from worker.profiles.store import NewProfile

BROKE = because("it broke")


@pytest.fixture
def workers(database):
    with (
        closing(Worker(database.settings, 0, 2)) as one,
        closing(Worker(database.settings, 1, 2)) as two,
    ):
        yield one, two


@pytest.fixture
def chain(queue):
    return lambda count=3, **columns: [
        queue.enqueue("visit", {}, **({"order_key": "k"} | columns)) for _ in range(count)
    ]


def claimed(*workers):
    """What each worker can claim now, by its job."""
    found = [worker.claim_now() for worker in workers]
    return [claim and claim.job_id for claim in found], [claim for claim in found if claim]


def test_the_next_job_of_a_key_is_claimed_when_the_one_before_is_done(workers, chain):
    first, second, third = chain()

    for job_id in (first, second, third):
        ids, (claim,) = claimed(*workers)
        assert sorted(filter(None, ids)) == [job_id]
        assert claimed(*workers)[1] == []
        workers[0].queue.complete(claim, {})


def test_a_job_that_waits_for_its_retry_holds_the_others_up(workers, chain):
    first, second, _ = chain()
    _, (claim,) = claimed(*workers)
    workers[0].queue.retry(claim, BROKE, delay_seconds=0.2)

    assert claimed(*workers)[1] == []
    deadline = time.monotonic() + 30
    while not workers[0].queue.promote():
        assert time.monotonic() < deadline
    ids, (again,) = claimed(*workers)
    assert first in ids
    workers[0].queue.complete(again, {})
    assert second in claimed(*workers)[0]


def test_behind_a_failed_job_the_others_wait_for_a_person(database, workers, chain, queue):
    first, second, third = chain()
    _, (claim,) = claimed(*workers)
    queue.fail(claim, BROKE)

    assert claimed(*workers)[1] == []
    said = sentence_about(database, queue.get(second))
    assert f"job {first} failed and its order waits; launcher.py retry --id {first}" in said
    # Not only the next one: whoever waits, waits for the one that failed.
    assert said.partition(" waits because ")[2] in sentence_about(database, queue.get(third))
    (item,) = held_back.count(database)
    assert (item.key, item.jobs) == ("order:key:k", 2)
    assert item.reason.startswith(f"job {first} failed and its order waits; ")
    database.run_statement(f"UPDATE work_queue SET status = 'done' WHERE id = {first}")
    assert second in claimed(*workers)[0]


def test_behind_a_job_that_may_be_half_done_the_advice_is_one_that_works(
    database, workers, chain, queue
):
    first, second, _ = chain()
    _, (claim,) = claimed(*workers)
    queue.end(claim, Ending(Outcome.CRASHED, "killed", irreversible_step="placing order"))

    said = sentence_about(database, queue.get(second))

    assert f"job {first} failed and may be half done, and its order waits; look at" in said
    assert f"launcher.py retry --half-done --id {first}, or discard it" in said


def test_a_failed_job_that_is_to_be_skipped_lets_the_others_go_on(workers, chain, queue):
    _, second, _ = chain(order_on_failure="skip")
    queue.fail(claimed(*workers)[1][0], BROKE)

    ids, (_,) = claimed(*workers)
    assert second in ids


def test_behind_a_job_that_stops_its_order_the_others_fail_one_by_one(database, chain, queue):
    first, second, third = chain(order_on_failure="stop")
    with closing(Worker(database.settings)) as worker:
        queue.fail(worker.claim(), BROKE)
        for job_id in (second, third):
            worker.look_again()
            rejection = worker.gate_answer()
            assert isinstance(rejection, Rejection)
            assert rejection.claim.job_id == job_id
            assert f"job {first} before it failed" in rejection.ending.reason
            queue.end(rejection.claim, rejection.ending)


def test_what_stops_behind_a_failed_job_is_one_group_whatever_the_orders(database, chain, queue):
    groups = set()
    for key in ("MX", "o'neil", "order-14"):
        chain(2, order_key=key, order_on_failure="stop")
        with closing(Worker(database.settings)) as worker:
            queue.fail(worker.claim(), BROKE)
            worker.look_again()
            rejection = worker.gate_answer()
            queue.end(rejection.claim, rejection.ending)
            groups.add(queue.get(rejection.claim.job_id)["fingerprint"])

    assert len(groups) == 1


def test_a_job_tried_again_by_hand_runs_alone_although_later_ones_were_on(workers, chain, queue):
    chain(order_on_failure="skip")
    _, (first,) = claimed(*workers)
    queue.fail(first, BROKE)
    _, (second,) = claimed(*workers)
    workers[0].db.run_statement(
        f"UPDATE work_queue SET status = 'pending', finished_at = NULL WHERE id = {first.job_id}"
    )

    assert claimed(*workers)[1] == []
    queue.complete(second, {})
    assert first.job_id in claimed(*workers)[0]


def test_claims_of_one_order_wait_for_each_other(database, workers, chain, queue):
    first, second = chain(2, order_on_failure="skip")
    queue.fail(claimed(*workers)[1][0], BROKE)
    one, two = workers
    two.look_again()
    candidate = two.candidates.next()
    assert candidate.job_id == second
    is_claimed, go_on = threading.Event(), threading.Event()

    def claim(tx):
        turns.admit(tx, candidate, turns.order_of(tx, candidate))
        two.queue.take_within(tx, two.owner, candidate)
        is_claimed.set()
        go_on.wait(30)

    thread = threading.Thread(target=two.db.transaction, args=(claim,))
    thread.start()
    assert is_claimed.wait(30)
    # While that claim is not committed, the first is put back by hand, and claimed by another.
    database.run_statement(
        f"UPDATE work_queue SET status = 'pending', finished_at = NULL WHERE id = {first}"
    )
    threading.Timer(0.3, go_on.set).start()

    assert one.claim_now() is None
    thread.join(30)
    assert queue.get(second)["status"] == "in_progress"


def test_many_claimers_of_many_keys_keep_every_order(database, queue):
    keys = [f"k{number % 4}" for number in range(60)]
    for key in keys:
        queue.enqueue("visit", {}, order_key=key)
    done: list[int] = []
    running: set[str] = set()
    broken: list[str] = []
    lock = threading.Lock()

    def work(slot: int) -> None:
        with closing(Worker(database.settings, slot, 6)) as worker:
            deadline = time.monotonic() + 60
            while len(done) < len(keys) and time.monotonic() < deadline:
                if (claim := worker.claim_now()) is None:
                    continue
                key = str(claim.order_place)
                with lock:
                    if key in running:
                        broken.append(key)
                    running.add(key)
                time.sleep(0.002)
                with lock:
                    running.discard(key)
                    done.append(claim.job_id)
                worker.queue.complete(claim, {})

    threads = [threading.Thread(target=work, args=(slot,)) for slot in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert broken == []
    assert sorted(done) == list(range(1, 61))
    for number in range(4):
        of_key = [job_id for job_id in done if (job_id - 1) % 4 == number]
        assert of_key == sorted(of_key)


def test_an_ordered_account_keeps_its_jobs_in_order_however_they_name_it(database, queue, workers):
    store.add(database, [NewProfile("p1", account_id="a"), NewProfile("p2", account_id="a")], "me")
    account_rules.set_rules(database, "a", Change(is_ordered=True), by="me")
    ids = [
        queue.enqueue("visit", {}, profile_id="p2"),
        queue.enqueue("visit", {"manifest": {"account": "a"}}),
        queue.enqueue("visit", {}, account_id="a"),
        queue.enqueue("visit", {"manifest": {"profile": "p1"}}),
    ]
    database.run_statement("UPDATE profiles SET max_active_runs = 9")

    for job_id in ids:
        found, claims = claimed(*workers)
        assert [each for each in found if each] == [job_id]
        assert claimed(*workers)[1] == []
        queue.complete(claims[0], {})


def test_accounts_that_are_not_ordered_go_on_side_by_side(database, queue, workers):
    store.add(database, [NewProfile("p1", account_id="a"), NewProfile("p2", account_id="a")], "me")
    for _ in range(2):
        queue.enqueue("visit", {}, account_id="a")

    assert len(claimed(*workers)[1]) == 2


def test_an_ordered_account_goes_by_its_own_choice_after_a_failure(database, queue, workers):
    store.add_account(database, "a", by="me")
    account_rules.set_rules(database, "a", Change(is_ordered=True, on_failure="skip"), by="me")
    ids = [queue.enqueue("visit", {}, account_id="a") for _ in range(3)]
    queue.fail(claimed(*workers)[1][0], BROKE)

    assert ids[1] in claimed(*workers)[0]


def test_a_job_in_a_temporary_profile_that_came_by_sql_is_refused_with_the_reason(database, queue):
    queue.enqueue("visit", {"manifest": {"temporary": True}}, order_key="k")

    with closing(Worker(database.settings)) as worker:
        rejection = worker.gate_answer()
        assert isinstance(rejection, Rejection)
        assert "temporary profile cannot have an order key" in rejection.ending.reason


def test_a_drain_waits_for_the_first_of_an_order_and_not_behind_one_that_failed(
    database, workers, chain, queue
):
    chain(2)
    one = workers[0]

    def is_over():
        one.look_again()
        drain = Drain(
            database, Partition(0, 2), one.closures, one.candidates,
            help_others=True, wait_seconds=5.0,
        )  # fmt: skip
        return drain.is_over()

    one.closures.refresh(at_once=True)
    assert not is_over()
    _, (claim,) = claimed(*workers)
    assert not is_over()
    queue.fail(claim, BROKE)
    assert is_over()


def test_ten_thousand_jobs_of_one_key_are_walked_through_once(database):
    add_jobs(database, range(1, 10_001), order_key="'k'")
    add_jobs(database, range(10_001, 10_201))
    with closing(Worker(database.settings)) as worker:
        assert [worker.claim().job_id for _ in range(5)] == [1, *range(10_001, 10_005)]
        before = rows_read(worker.db)
        ids = [worker.claim().job_id for _ in range(100)]

        assert ids == list(range(10_005, 10_105))
        # One look back may come within that time; a walk for each claim would be a million rows.
        assert rows_read(worker.db) - before < 50_000
