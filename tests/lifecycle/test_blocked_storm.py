"""A site that refuses everybody: its breaker saves the attempts, the others' work goes on."""

from __future__ import annotations

from contextlib import closing

import pytest

from tests.lifecycle.conftest import wait_until
from tests.loopback import Site

JOBS = 120
OTHERS = 40
MAX_BLOCKS = 3
# The share of the attempts that a storm would burn without a breaker.
MOST_BURNT = 0.05


@pytest.fixture
def site():
    with closing(Site()) as site:
        yield site


@pytest.mark.timeout(240)
def test_a_storm_of_blocks_burns_few_attempts_and_ends_by_itself(launch, queue, database, site):
    site.refused_hosts = {"127.0.0.1"}
    storm = queue.enqueue_many("visit", [{"url": f"http://127.0.0.1:{site.port}/"}] * JOBS)
    calm = queue.enqueue_many("visit", [{"url": f"http://localhost:{site.port}/"}] * OTHERS)
    assert (storm, calm) == (JOBS, OTHERS)

    run = launch(
        "--workers", 4, "--max-blocks", MAX_BLOCKS, "--breaker-cooldown", "1s",
        "--retry-delay", "1s", "--page-timeout", "10s", "--json",
    )  # fmt: skip

    def counted(condition: str) -> int:
        sql = f"SELECT COUNT(*) AS jobs FROM work_queue WHERE {condition}"
        return int(database.run_statement(sql)[0]["jobs"])

    def breaker() -> dict:
        rows = database.run_statement("SELECT * FROM breakers WHERE name = 'site:127.0.0.1'")
        return rows[0] if rows else {"state": "closed", "openings": 0}

    wait_until(lambda: counted("site = 'localhost' AND status = 'done'") == OTHERS, "calm", 60)
    # Canaries have gone out and come back with nothing, each time for longer.
    wait_until(lambda: breaker()["openings"] >= 2, "two failed canaries", 30)
    during = {
        "done": counted("site = '127.0.0.1' AND status = 'done'"),
        "error": counted("status = 'error'"),
    }
    assert breaker()["state"] != "closed"
    site.refused_hosts = set()
    assert run.wait(100) == 0

    burnt = int(database.run_statement("SELECT SUM(blocks) AS blocks FROM work_queue")[0]["blocks"])
    assert during == {"done": 0, "error": 0}
    assert burnt <= MOST_BURNT * MAX_BLOCKS * JOBS, f"{burnt} of {MAX_BLOCKS * JOBS} were burnt"
    assert burnt >= 1
    assert queue.counts() == {"pending": 0, "in_progress": 0, "done": JOBS + OTHERS, "error": 0}
    assert breaker()["state"] == "closed"
    assert "its breaker is closed" in run.stderr
    print(f"burnt {burnt} of {MAX_BLOCKS * JOBS}")  # noqa: T201 - a figure for the record.


def test_a_run_forgets_sites_that_failed_once_and_long_ago(launch, queue, tasks, database, let_go):
    database.run_statement(
        "INSERT INTO breakers (name, failures, window_start) VALUES"
        " ('site:old.test', 1, UTC_TIMESTAMP(6) - INTERVAL 1 HOUR),"
        " ('site:new.test', 1, UTC_TIMESTAMP(6) + INTERVAL 1 HOUR)"
    )
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)

    def names():
        return [row["name"] for row in database.run_statement("SELECT name FROM breakers")]

    wait_until(lambda: names() == ["site:new.test"], "the old one is forgotten")
    let_go()
    assert run.wait() == 0
