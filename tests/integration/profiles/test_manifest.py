"""Jobs of an owner that they are not done in: temporary ones, and ones that name a proxy."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.integration.profile_fixtures import state
from worker.claiming.why import sentence_about
from worker.models import Cause, Outcome, Rejection
from worker.profiles import doors, store
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


@pytest.mark.parametrize(
    ("job", "problem"),
    [
        ({"profile": "nobody"}, "there is no profile nobody"),
        ({"account": "nobody"}, "there is no account nobody"),
        ({"profile": "p1", "account": "a2"}, "belongs to account a1, not to a2"),
    ],
)
@pytest.mark.parametrize("is_in_columns", [True, False])
def test_a_temporary_job_of_an_owner_that_does_not_exist_is_an_error_at_once(
    database, queue, worker, enqueue, add, job, problem, is_in_columns
):
    add("p1", account_id="a1", proxy="berlin")
    add("p2", account_id="a2", proxy="berlin")
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:9"), name="berlin"))
    if is_in_columns:
        job_id = enqueue(**job, temporary=True)
    else:
        job_id = queue.enqueue("visit", {"manifest": {**job, "temporary": True}})
    said = sentence_about(database, queue.get(job_id))

    rejected = worker.gate_answer()

    assert problem in said
    assert "will fail when it is tried" in said
    assert isinstance(rejected, Rejection)
    assert (rejected.ending.outcome, rejected.ending.cause) == (Outcome.ERROR, Cause.PROFILE)
    assert problem in rejected.ending.reason
    assert not database.run_statement("SELECT * FROM account_proxies")


def test_a_temporary_job_of_an_owner_that_exists_locks_nothing(database, worker, enqueue, add):
    add("p1", account_id="a1")
    store.add_account(database, "a2", by="me")
    for owner in ({"profile": "p1"}, {"account": "a1"}, {"account": "a2"}):
        enqueue(**owner, temporary=True)

    for _ in range(3):
        assert worker.claim_now().lease_fence is None
    assert state(database) == "available"


def test_no_way_out_is_found_for_a_profile_that_is_gone(database):
    assert doors.of_job(database, "gone", None, "").reason == "profile gone does not exist"


@pytest.mark.parametrize(
    ("wanted", "problem"),
    [
        ({"proxy": "berlin"}, "manifest: proxy berlin needs a profile that has it"),
        ({"proxy": "nosuch", "temporary": True}, "proxy nosuch needs a profile that has it"),
        ({"account": "a2", "proxy": "berlin"}, "proxy berlin needs a profile that has it"),
        ({"account": "a1", "proxy": "berlin", "temporary": True}, "needs a profile that has it"),
        ({"profile": "p1", "proxy": "none", "temporary": True}, "wants proxy none, profile p1 has"),
    ],
)
def test_a_proxy_that_a_job_cannot_have_is_an_error_at_once(
    database, queue, worker, add, wanted, problem
):
    add("p1", account_id="a1", proxy="berlin")
    store.add_account(database, "a2", by="me")
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:9"), name="berlin"))
    queue.enqueue("visit", {"manifest": wanted})

    rejected = worker.gate_answer()

    assert isinstance(rejected, Rejection)
    assert rejected.ending.outcome is Outcome.ERROR
    assert problem in rejected.ending.reason


def test_a_temporary_job_may_name_the_proxy_that_its_profile_has(database, queue, worker, add):
    add("p1", proxy="berlin")
    proxies.add(database, replace(Proxy.parse("http://127.0.0.1:9"), name="berlin"))
    queue.enqueue("visit", {"manifest": {"profile": "p1", "proxy": "berlin", "temporary": True}})

    assert worker.claim_now().profile_id == "p1"
