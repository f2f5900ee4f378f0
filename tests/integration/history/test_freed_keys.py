"""A discard tells which dedupe keys it sets free, of jobs that may have done something for good."""

from __future__ import annotations

import pytest

from worker.history import archive, dead_letters, freed_keys
from worker.history.dead_letters import Scope, parse_filter
from worker.models import Ending, Outcome
from worker.queue import irreversible

STEP = "placing order"


@pytest.fixture
def failed(queue, claim_as, database):
    """Add a job that failed: half done, after it had taken its step, or before."""

    def failed(key: str | None, how: str) -> int:
        job = queue.enqueue("order", {}, dedupe_key=key)
        claim = claim_as()
        if how == "taken":
            irreversible.begin(database, claim, STEP)
            irreversible.end(database, claim, STEP)
        step = STEP if how == "half done" else None
        queue.end(claim, Ending(Outcome.ERROR, "sold out", irreversible_step=step))
        return int(job)

    return failed


def test_only_keys_that_keep_something_from_being_done_twice(database, queue, failed):
    half_done = failed("order-1", "half done")
    jobs = [half_done, failed("order-2", "taken"), failed("order-3", ""), failed(None, "half done")]
    until = archive.now(database)
    group = queue.get(half_done)["fingerprint"]

    def found(limit: int | None = None, **scope: object) -> list[str]:
        return freed_keys.find(database, Scope(until, **scope), limit)  # type: ignore[arg-type]

    assert found(ids=tuple(jobs)) == ["order-1", "order-2"]
    assert found(group=group) == ["order-1"]
    assert found(filter=parse_filter("task=order")) == ["order-1", "order-2"]
    assert found(1, filter=parse_filter("task=order")) == ["order-1"]
    dead_letters.discard(database, Scope(until, ids=tuple(jobs)), archive.Label("me", "seen"))
    assert found(ids=tuple(jobs)) == []
    assert queue.enqueue("order", {}, dedupe_key="order-1") not in jobs


def test_the_warning_names_them():
    one = "dedupe key 'a' is free again: adding it once more would do it again"
    assert freed_keys.warning([], jobs=3) == ""
    assert freed_keys.warning(["a"], jobs=1) == f"its {one}"
    assert freed_keys.warning(["a"], jobs=2) == f"the {one}"
    assert freed_keys.warning(list("abcd"), jobs=4) == (
        "4 dedupe keys are free again ('a', 'b', 'c' …): adding those once more would do it again"
    )
    assert "2 dedupe keys would be free" in freed_keys.warning("ab", jobs=2, verb="would be")
