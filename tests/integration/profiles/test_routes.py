"""What an attempt used is written with its claim and its settlement, and stays with the attempt."""

from __future__ import annotations

import json
from dataclasses import asdict

from tests.integration.profile_fixtures import finish
from worker.claiming.candidates import Candidates
from worker.models import Candidate, Cause, Claim, Ending, Outcome, Owner, Partition, Route
from worker.profiles.manifest import Manifest
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy
from worker.queue import journal
from worker.recovery.sweep import sweep


def used(row) -> tuple[str | None, ...]:
    return tuple(row[f"used_{name}"] for name in ("profile", "account", "proxy"))


def test_a_claim_knows_and_writes_the_profile_account_and_proxy_that_it_was_given(
    database, worker, add, enqueue
):
    add("p1", account_id="ada", proxy=None)
    by_account = enqueue(account="ada")
    claim = worker.claim()

    assert claim.route == Route("p1", "ada", None)
    assert used(worker.queue.get(by_account)) == ("p1", "ada", None)

    finish(worker, claim)
    by_profile = enqueue("p1")
    claim = worker.claim_now()
    assert (claim.account_id, claim.route) == ("ada", Route("p1", "ada"))
    assert used(worker.queue.get(by_profile)) == ("p1", "ada", None)


def test_a_claim_whose_connection_broke_knows_its_route_all_the_same(worker, add, enqueue):
    add("p1", account_id="ada")
    enqueue("p1")
    claim = worker.claim_now()
    candidate = Candidate(claim.job_id, "", 0, 0, None, "visit", claim.payload, None, False)

    again = worker.gate._reclaim(worker.owner, candidate, Manifest(profile="p1"))

    assert isinstance(again, Claim)
    assert (again.account_id, again.route) == ("ada", Route("p1", "ada"))


def test_a_finish_writes_the_proxy_and_the_next_claim_of_the_row_forgets_it(
    database, queue, claim_as
):
    first, second = queue.enqueue("visit", {}), queue.enqueue("visit", {})
    claim = claim_as(incarnation=7)
    following = Candidates(database, Partition(0, 1)).next()

    queue.finish_and_take(claim, "1", Owner(0, 7), following, proxy="berlin")

    assert used(queue.get(first)) == (None, None, "berlin")
    assert used(queue.history(first)[0]) == (None, None, "berlin")
    assert used(queue.get(second)) == (None, None, None)
    # Put back by hand, the finish of before keeps what it used, and the new attempt begins anew.
    database.run_statement(
        "UPDATE work_queue SET status = 'pending', result = NULL WHERE id = %(id)s", {"id": first}
    )
    again = claim_as(incarnation=8)
    assert again.job_id == first
    assert used(queue.get(first)) == (None, None, None)
    assert [used(row) for row in queue.history(first)] == [(None, None, "berlin")]


def test_each_attempt_has_its_own_route(queue, claim_as):
    job = queue.enqueue("visit", {})
    for proxy in ("berlin", "hamburg", None):
        queue.end(claim_as(), Ending(Outcome.RETRY, "again", Cause.SITE, proxy=proxy))

    assert [row["used_proxy"] for row in queue.history(job)] == ["berlin", "hamburg", None]


def test_an_event_for_a_webhook_tells_it(database, queue, claim_as):
    database.run_statement("DELETE FROM outbox")
    queue.enqueue("visit", {}, callback_url="http://hook.test/")
    queue.end(claim_as(), Ending(Outcome.DONE, result="1", proxy="berlin"))
    queue.enqueue("visit", {}, callback_url="http://hook.test/")
    queue.end(claim_as(), Ending(Outcome.ERROR, "broke", Cause.CODE, proxy="hamburg"))

    rows = database.run_statement("SELECT * FROM outbox ORDER BY id")
    assert [used(row) for row in rows] == [(None, None, "berlin"), (None, None, "hamburg")]


def test_a_swept_job_says_what_its_vanished_worker_had_leased(database, worker, add, enqueue):
    proxies.add(database, Proxy("http", "b.test", 80, name="berlin"))
    add("p1", account_id="ada", proxy="berlin")
    job = enqueue("p1")
    assert worker.claim_now().route == Route("p1", "ada", "berlin")
    database.run_statement("UPDATE work_queue SET lease_until = '2000-01-01'")

    sweep(database, worker.queue, server_grace_seconds=0)

    (row,) = worker.queue.history(job)
    assert (row["outcome"], *used(row)) == ("swept", "p1", "ada", "berlin")


def test_a_route_goes_through_the_journal_and_an_older_file_has_none(tmp_path, queue, claim_as):
    queue.enqueue("visit", {}, account_id="ada")
    claim = claim_as()
    journal.write(tmp_path, 7, claim, Ending(Outcome.DONE, result="1", proxy="berlin"))

    ((_, entry),) = journal.read(tmp_path)
    assert entry.claim == claim
    assert entry.ending.proxy == "berlin"

    old = {"claim": asdict(claim), "ending": asdict(entry.ending)}
    del old["claim"]["route"], old["ending"]["proxy"]
    entry.path.write_text(json.dumps(old))
    ((_, entry),) = journal.read(tmp_path)
    assert (entry.claim.route, entry.ending.proxy) == (Route(), None)
