"""What draws a page may be killed, as for want of memory: that is the pool's own trouble."""

from __future__ import annotations

import json

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import worker_of
from worker.drill import targets
from worker.system.process_tree import kill


def test_a_killed_renderer_costs_no_attempt_and_is_not_booked_on_the_site(
    launch, database, queue, tasks, noted, demo_site, errors_dir
):
    url = f"{demo_site}/products/1"
    job = queue.enqueue("expecting", {"url": url})
    run = launch("--workers", 1, "--tasks", tasks, "--retry-delay", "0", "--json")
    wait_until(lambda: noted("begun"), "the page is waited for")

    renderers = targets.renderers(worker_of(database, job))
    assert renderers
    for renderer in renderers:
        kill(renderer)

    assert run.wait() == 0
    crashed, done = queue.history(job)
    assert (crashed["outcome"], crashed["cause"]) == ("crashed", "pool")
    assert done["outcome"] == "done"
    assert queue.get(job)["status"] == "done"
    told = json.loads((errors_dir / crashed["evidence"] / "error.json").read_text(encoding="utf-8"))
    assert told["page_crashed"] is True
    failures = database.run_statement("SELECT COALESCE(SUM(failures), 0) AS n FROM breakers")
    assert int(failures[0]["n"]) == 0
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 0, 0)
