"""What the next sweep would end as half done waits for a person before that sweep, too."""

from __future__ import annotations

from functools import partial

from worker.history import todo
from worker.queue import irreversible
from worker.recovery import sweep as sweeping
from worker.recovery import unswept
from worker.recovery.unswept import everything

STEP = "submitting order"
sweep = partial(sweeping.sweep, server_grace_seconds=0)


def test_a_job_whose_owner_is_gone_at_an_irreversible_step_waits_for_a_person_at_once(
    database, queue, claim_as, expire, monkeypatch
):
    # The server of the tests may have been started just now.
    monkeypatch.setattr(unswept, "sweep", sweep)
    for _ in range(3):
        queue.enqueue("order", {})
    gone, safe, at_work = claim_as(), claim_as(), claim_as()
    irreversible.begin(database, gone, STEP)
    irreversible.begin(database, at_work, STEP)
    expire(gone)
    expire(safe)

    (item,) = everything(database).items

    assert (item.kind, item.name, item.jobs) == ("half done", f"job {gone.job_id}", 1)
    assert item.reason.startswith(f"task order: may be half done at '{STEP}': worker 0 vanished")
    assert item.command == "launcher.py sweep"
    assert item.since is not None
    sweep(database, queue)
    assert everything(database) == todo.everything(database)
    (item,) = everything(database).items
    assert item.command == f"launcher.py show {gone.job_id}"
