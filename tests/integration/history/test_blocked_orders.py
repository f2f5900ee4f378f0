"""A failed job that its order waits for is found, with the jobs behind it; any other is not."""

from __future__ import annotations

import pytest

from worker.history import blocked_orders, todo
from worker.models import Ending, Outcome
from worker.profiles import account_rules, store
from worker.profiles.account_rules import Change
from worker.profiles.store import NewProfile


@pytest.fixture
def fail(queue, claim_as):
    """Add a job, let it fail, and put others behind it; return its number."""

    def fail(behind: int = 2, step: str | None = None, **fields: str) -> int:
        job = queue.enqueue("order", {}, **fields)
        queue.end(claim_as(), Ending(Outcome.ERROR, "sold out", irreversible_step=step))
        for _ in range(behind):
            queue.enqueue("order", {}, delay_seconds=3600, **fields)
        return int(job)

    return fail


def found(database) -> list[tuple[str, int, int]]:
    return [(each.name, each.job_id, each.jobs) for each in blocked_orders.find(database)]


def test_only_orders_that_wait_and_have_somebody_waiting(database, fail):
    waits = fail(order_key="k")
    fail(order_key="empty", behind=0)
    fail(order_key="skips", order_on_failure="skip")
    fail(order_key="stops", order_on_failure="stop")
    fail()

    assert found(database) == [("key k", waits, 2)]


def test_an_ordered_account_is_one_order_however_its_jobs_name_it(database, fail):
    store.add(database, [NewProfile("p1", account_id="ada"), NewProfile("p2")], "me")
    fail(profile_id="p2")
    first = fail(profile_id="p1")
    fail(account_id="ada", behind=1)
    assert found(database) == []

    account_rules.set_rules(database, "ada", Change(is_ordered=True), by="me")
    assert found(database) == [("account ada", first, 3)]
    account_rules.set_rules(database, "ada", Change(on_failure="stop"), by="me")
    assert found(database) == []


def test_it_is_in_the_list_of_what_waits_for_a_person(database, fail):
    job, half_done = fail(order_key="MX"), fail(order_key="AR", step="paying", behind=1)

    items = [item for item in todo.everything(database).items if item.kind == "order"]

    assert [(item.name, item.jobs, item.command) for item in items] == [
        ("key MX", 2, f"launcher.py retry --id {job}"),
        ("key AR", 1, f"launcher.py show {half_done}"),
    ]
    assert items[0].reason == f"job {job} failed and the jobs behind it wait: sold out"
    assert "may be half done at 'paying'" in items[1].reason
    assert items[0].since is not None
