"""A run drains the queue: what it does, in which order, how long it waits, what it reports."""

from __future__ import annotations

import signal
from contextlib import suppress
from pathlib import Path

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pool import worker_of
from worker.system.process_tree import descendants


def test_a_run_drains_the_queue_and_sums_it_up(launch, queue, tasks, noted):
    done = [queue.enqueue("noop", {}) for _ in range(5)]
    queue.enqueue("no such task", {})
    late = queue.enqueue("retried", {"succeeds_at": 2, "after": 0.2})

    run = launch("--workers", 2, "--tasks", tasks)

    assert run.wait() == 0
    head, *rest = run.stdout.splitlines()
    assert "drained after" in head
    assert ": 6 done, 1 failed, 1 retried, " in head
    assert "  left: nothing" in rest
    assert [line.split(":")[0] for line in rest[:2]] == ["  worker 0", "  worker 1"]
    assert sorted(noted("finished")) == [*((job, 1) for job in done), (late, 2)]
    assert queue.counts() == {"pending": 0, "in_progress": 0, "done": 6, "error": 1}


def test_the_summary_as_json_is_all_there_is_on_stdout(launch, queue, tasks):
    queue.enqueue_many("noop", [{}, {}, {}])
    queue.enqueue("no such task", {})

    run = launch("--workers", 2, "--tasks", tasks, "--json")

    assert run.wait() == 0
    told = run.summary
    assert (told["done"], told["failed"], told["retried"], told["crashes"]) == (3, 1, 0, 0)
    assert told["left"] == {"pending": 0, "in_progress": 0, "waiting": 0}
    assert sum(worker["done"] for worker in told["workers"]) == 3
    assert told["stopped_by"] is None
    assert told["rate"] > 0
    (group,) = told["groups"]
    assert (group["jobs"], group["is_new"]) == (1, True)
    assert group["label"].startswith("no such task: TaskNotFound ")


def test_an_empty_queue_is_drained_at_once(launch, queue):
    run = launch("--workers", 2)

    assert run.wait() == 0
    assert "0 done, 0 failed" in run.stdout


def test_a_run_gives_an_empty_database_its_schema(launch, settings, mysql):
    run = launch("--workers", 1)

    assert run.wait() == 0
    with mysql.cursor() as cursor:
        cursor.execute("SELECT COUNT(*) FROM work_queue")
        assert cursor.fetchone() == (0,)


def test_a_bare_url_inserted_with_plain_sql_is_visited(launch, database, demo_site):
    database.run_statement(
        "INSERT INTO work_queue (payload) VALUES (%(payload)s)",
        {"payload": f'{{"url": "{demo_site}/odd/redirect/3"}}'},
    )

    assert launch("--workers", 1).wait() == 0

    (job,) = database.run_statement(
        "SELECT status, JSON_VALUE(result, '$.status') AS code, "
        "JSON_VALUE(result, '$.title') AS title, JSON_VALUE(result, '$.url') AS url "
        "FROM work_queue"
    )
    assert (job["status"], int(job["code"])) == ("done", 200)
    assert job["url"] == f"{demo_site}/products/1"
    assert job["title"]


def test_a_pool_of_one_takes_the_urgent_first(launch, queue, tasks, noted):
    last = queue.enqueue("noop", {}, priority=5)
    middle = queue.enqueue("noop", {})
    first = queue.enqueue("noop", {}, priority=-5)

    assert launch("--workers", 1, "--tasks", tasks).wait() == 0

    assert [job for job, _ in noted("finished")] == [first, middle, last]


def test_a_job_is_not_done_before_its_time(launch, database, queue, tasks, noted):
    later = queue.enqueue("noop", {}, delay_seconds=600.0, priority=-5)
    now = queue.enqueue("noop", {})
    run = launch("--workers", 1, "--tasks", tasks, "--wait-retries", "1h")
    wait_until(lambda: noted("finished"), "a job is done")
    assert noted("finished") == [(now, 1)]

    database.run_statement("UPDATE work_queue SET not_before = UTC_TIMESTAMP(6) WHERE id = 1")

    assert run.wait() == 0
    assert noted("finished") == [(now, 1), (later, 1)]


def test_a_drain_waits_for_a_retry_that_comes_soon_and_leaves_one_that_comes_late(
    launch, queue, tasks, noted
):
    soon = queue.enqueue("retried", {"succeeds_at": 2, "after": 1.5})
    late = queue.enqueue("retried", {"succeeds_at": 2, "after": 3600})

    run = launch("--workers", 2, "--tasks", tasks, "--wait-retries", "10s")

    assert run.wait() == 0
    assert noted("finished") == [(soon, 2)]
    assert "left: 1 pending (1 of them waiting for their time)" in run.stdout
    row = queue.get(late)
    assert (row["status"], row["attempts"], row["wait_reason"]) == ("pending", 1, "not yet")


def test_a_following_run_waits_for_new_work_until_it_is_told_to_stop(launch, queue, tasks, noted):
    run = launch("--workers", 1, "--tasks", tasks, "--follow", "--json")
    for _ in range(2):
        before = len(noted("finished"))
        queue.enqueue("noop", {})
        wait_until(lambda before=before: len(noted("finished")) > before, "the new job is done")
    assert run.is_running

    run.signal(signal.SIGTERM)

    assert run.wait() == 0
    assert (run.summary["done"], run.summary["stopped_by"]) == (2, "SIGTERM")


def test_the_launcher_holds_no_thread_and_no_connection(
    launch, queue, tasks, noted, let_go, server, settings
):
    queue.enqueue("held", {})
    url = f"mysql://root@127.0.0.1:{server.port}/{settings.database}"
    run = launch("--workers", 1, "--tasks", tasks, DATABASE_URL=url)
    wait_until(lambda: noted("begun"), "the job has begun")

    threads = [path.name for path in Path(f"/proc/{run.pid}/task").iterdir()]

    def connected() -> list[int]:
        return [p.pid for p in run.family() if has_connection_to(server.port, p.pid)]

    # Its worker and its heart have one each, so the search does find connections.
    wait_until(lambda: len(connected()) == 2, "worker and heart are connected")
    has_own = has_connection_to(server.port, run.pid)
    let_go()

    assert run.wait() == 0
    assert threads == [str(run.pid)]
    assert not has_own


def has_connection_to(port: int, pid: int) -> bool:
    """Tell whether a process holds a TCP connection to a port of this machine."""
    connected = set()
    for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()[1:]:
        fields = line.split()
        if int(fields[2].partition(":")[2], 16) == port:
            connected.add(f"socket:[{fields[9]}]")
    held = set()
    # A process may end, or close something, while it is looked at.
    with suppress(OSError):
        for fd in Path(f"/proc/{pid}/fd").iterdir():
            with suppress(OSError):
                held.add(str(fd.readlink()))
    return bool(held & connected)


def test_a_run_leaves_no_temporary_file(launch, queue, demo_site, tmp_path):
    queue.enqueue("visit", {"url": f"{demo_site}/products/1"})

    assert launch("--workers", 2).wait() == 0

    assert list((tmp_path / "state" / "tmp").iterdir()) == []


def test_jobs_without_a_page_start_no_browser_and_the_first_with_one_does(
    launch, database, queue, tasks, noted, let_go
):
    bare = queue.enqueue("held", {})
    paged = queue.enqueue("held_page", {})
    run = launch("--workers", 1, "--tasks", tasks, "--json")

    wait_until(lambda: len(noted("begun")) == 1, "the job without a page has begun")
    worker = worker_of(database, bare)
    assert list(descendants(worker.pid)) == []
    let_go()

    assert run.wait(60) == 0, run.output
    assert run.summary["done"] == 2
    assert queue.get(paged)["attempts"] == 1
