"""A run tells the world of its jobs, and never waits for the world to listen."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections import defaultdict
from contextlib import suppress

import pytest

from examples.webhook_receiver import Inbox, serve
from tests.lifecycle.conftest import REPO, wait_until
from tests.lifecycle.pool import workers
from worker.system.process_tree import descendants, is_alive
from worker.webhooks import outbox

SECRET = "correct horse battery staple"
ALLOWED = {"NIGHTSHIFT_WEBHOOK_SECRET": SECRET, "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE": "1"}
# The launcher with an hour of patience for a receiver: whoever waits for one is not done in time.
PATIENT = (
    "import worker.webhooks as webhooks; webhooks.ANSWER_SECONDS = 3600.0; "
    "from worker.cli.main import main; main()"
)
# The same for the last deliveries of a run.
PATIENT_TO_THE_LAST = (
    "import worker.supervisor.loop as loop; loop.LAST_DELIVERY_SECONDS = 3600.0; "
    "import worker.supervisor.courier as courier; courier.LAST_TAKES_SECONDS = 3600.0; "
)


class ReceiverProcess:
    """The receiver of examples/ as a process that can be killed and started again."""

    def __init__(self, folder, port):
        self._port = port
        self._store = folder / "events.sqlite"
        self.inbox = Inbox(self._store)
        self.start()

    def start(self):
        command = ["examples/webhook_receiver", "--port", str(self._port), "--store"]
        self._process = subprocess.Popen(
            [sys.executable, *command, str(self._store)],
            cwd=REPO,
            env={**os.environ, "NIGHTSHIFT_WEBHOOK_SECRET": SECRET},
            stdout=subprocess.PIPE,
            text=True,
        )
        self.url = self._process.stdout.readline().strip()

    def kill(self):
        self._process.kill()
        self._process.wait()
        self._process.stdout.close()


@pytest.fixture
def receiver(tmp_path, closed_port):
    receiver = ReceiverProcess(tmp_path, closed_port)
    yield receiver
    with suppress(ProcessLookupError, ValueError):
        receiver.kill()


@pytest.fixture
def deliver_the_rest(launch, database):
    """Call `launcher.py deliver` until nothing waits, as cron would, but without the waits."""

    def deliver():
        def is_everything_delivered():
            database.run_statement(
                "UPDATE outbox SET next_try_at = UTC_TIMESTAMP(6) WHERE next_try_at IS NOT NULL"
            )
            assert launch("deliver", "--json", **ALLOWED).wait() == 0
            return outbox.counts(database)["waiting"] == 0

        wait_until(is_everything_delivered, "every event has arrived", seconds=60, every=0.5)

    return deliver


def courier_of(run, database):
    """Find the child of the launcher that is neither a worker nor the heart, its first child."""
    children = [stat for stat in descendants(run.pid) if stat.parent == run.pid]
    known = workers(database)
    others = sorted((stat.id for stat in children if stat.id not in known), key=lambda p: p.pid)
    return others[1] if len(others) == 2 else None


def wait_for_courier(run, database):
    """Wait until every worker has started too, so that the other child must be the courier."""
    wait_until(lambda: courier_of(run, database), "a courier is at work")
    return courier_of(run, database)


def test_a_run_delivers_what_its_jobs_came_to(launch, queue, tasks, database, let_go, receiver):
    done = queue.enqueue("noop", {}, callback_url=receiver.url, dedupe_key="first")
    failed = queue.enqueue("no such task", {})
    last = queue.enqueue("held", {}, priority=1)

    run = launch(
        *("--workers", 1, "--tasks", tasks, "--callback-url", receiver.url),
        program=("-c", PATIENT_TO_THE_LAST + PATIENT),
        **ALLOWED,
    )
    wait_until(lambda: len(receiver.inbox.events()) == 2, "the first events have arrived")
    let_go()

    assert run.wait() == 0
    events = {event["job_id"]: event for event in receiver.inbox.events()}
    assert set(events) == {done, failed, last}
    assert events[done]["event"] == "job.done"
    assert (events[done]["result"], events[done]["dedupe_key"]) == ({"attempt": 1}, "first")
    assert events[failed]["event"] == "job.error"
    assert "no such task" in events[failed]["reason"]
    assert outbox.counts(database) == {"waiting": 0, "given_up": 0}


def test_a_receiver_killed_midway_gets_every_event_and_those_of_a_job_in_order(
    launch, queue, tasks, database, let_go, receiver, deliver_the_rest
):
    jobs = [
        queue.enqueue(name, {"seconds": 0.03}, callback_url=receiver.url)
        for name in ["napping"] * 25 + ["held"] * 25
    ]
    first = launch("--workers", 2, "--tasks", tasks, "--json", **ALLOWED)
    wait_until(lambda: len(receiver.inbox.events()) >= 5, "some events have arrived")
    receiver.kill()
    let_go()
    assert first.wait() == 0
    assert first.summary["done"] == 50
    assert outbox.counts(database)["waiting"] >= 25
    database.run_statement("UPDATE work_queue SET status = 'pending'")

    second = launch("--workers", 2, "--tasks", tasks, "--json", **ALLOWED)
    wait_until(lambda: queue.counts()["done"] >= 10, "the second round is on its way")
    receiver.start()
    assert second.wait() == 0
    deliver_the_rest()

    attempts = defaultdict(list)
    for event in receiver.inbox.events():
        attempts[event["job_id"]].append(event["attempt"])
    assert attempts == {job: [1, 2] for job in jobs}


def test_no_job_waits_for_a_receiver_that_does_not_answer(launch, queue, tasks, database, let_go):
    # It takes connections, as the kernel does for every listener, and never a word.
    with socket.create_server(("127.0.0.1", 0), backlog=100) as black_hole:
        black_hole.settimeout(30)
        queue.enqueue("noop", {})
        queue.enqueue("held", {})
        queue.enqueue_many("napping", [{"seconds": 0.02}] * 58)
        run = launch(
            *("--workers", 2, "--tasks", tasks),
            *("--callback-url", f"http://127.0.0.1:{black_hole.getsockname()[1]}/"),
            program=("-c", PATIENT),
            **ALLOWED,
        )
        # Somebody waits for an answer, for as long as it may take; the jobs go on.
        with black_hole.accept()[0]:
            wait_until(lambda: queue.counts()["done"] == 59, "the other jobs are done")
            let_go()

            assert run.wait() == 0

    assert queue.counts()["done"] == 60
    assert outbox.counts(database) == {"waiting": 60, "given_up": 0}


def test_a_courier_that_is_killed_is_replaced(
    launch, queue, tasks, database, noted, let_go, receiver, tmp_path
):
    held = queue.enqueue("held", {})
    queue.enqueue("noop", {}, callback_url=receiver.url)
    run = launch("--workers", 2, "--tasks", tasks, **ALLOWED)
    wait_until(receiver.inbox.events, "the first event has arrived")
    os.kill(wait_for_courier(run, database).pid, signal.SIGKILL)
    queue.enqueue("noop", {}, callback_url=receiver.url)

    wait_until(lambda: len(receiver.inbox.events()) == 2, "the second event has arrived")

    let_go(held)
    assert run.wait() == 0


def test_a_killed_launcher_takes_its_courier_along(launch, queue, tasks, database, receiver):
    queue.enqueue("held", {})
    queue.enqueue("noop", {}, callback_url=receiver.url)
    run = launch("--workers", 2, "--tasks", tasks, **ALLOWED)
    wait_until(receiver.inbox.events, "the first event has arrived")
    courier = wait_for_courier(run, database)
    assert is_alive(courier)

    run.signal(signal.SIGKILL)

    wait_until(lambda: not is_alive(courier), "the courier is gone", seconds=15)


def test_without_callbacks_there_is_no_courier(launch, queue, tasks, database, noted, let_go):
    queue.enqueue("held", {})
    run = launch("--workers", 1, "--tasks", tasks)
    wait_until(lambda: noted("begun"), "the job has begun")
    deadline = time.monotonic() + 2.0
    while time.monotonic() < deadline:
        assert courier_of(run, database) is None
        time.sleep(0.05)

    let_go()
    assert run.wait() == 0


def test_without_a_secret_a_run_says_so_once_and_its_events_wait(
    launch, queue, tasks, database, let_go, receiver
):
    queue.enqueue("noop", {}, callback_url=receiver.url)
    held = queue.enqueue("held", {}, callback_url=receiver.url)

    run = launch("--workers", 1, "--tasks", tasks, "--json")
    wait_until(lambda: "NIGHTSHIFT_WEBHOOK_SECRET is not set" in run.stderr, "it says so")
    # Another courier would be started after a second, while these are done.
    for _ in range(28):
        queue.enqueue("napping", {"seconds": 0.1}, callback_url=receiver.url)
    let_go(held)

    assert run.wait() == 0
    assert run.summary["done"] == 30
    assert run.stderr.count("NIGHTSHIFT_WEBHOOK_SECRET is not set") == 1
    assert outbox.counts(database) == {"waiting": 30, "given_up": 0}
    assert receiver.inbox.events() == []


def test_no_secret_of_a_callback_gets_into_what_a_run_says(launch, queue, tasks, database, let_go):
    secrets = ("walter", "hunter2", "mellon", "sesame", SECRET)
    with serve("another secret", Inbox(tasks.with_name("inbox"))) as bare:
        url = bare.replace("//", "//walter:hunter2@").replace("/nightshift", "/sesame?key=mellon")
        queue.enqueue("noop", {}, callback_url=url)
        queue.enqueue("held", {})
        run = launch("--workers", 1, "--tasks", tasks, "--callback-url", url, **ALLOWED)
        wait_until(lambda: "answered 401; tried again later" in run.stderr, "it is told")
        let_go()
        assert run.wait() == 0

    for secret in secrets:
        assert secret not in run.output


def test_told_twice_to_stop_a_run_does_not_wait_for_receivers(
    launch, queue, tasks, database, noted
):
    with socket.create_server(("127.0.0.1", 0), backlog=100) as black_hole:
        url = f"http://127.0.0.1:{black_hole.getsockname()[1]}/"
        queue.enqueue("noop", {}, callback_url=url)
        queue.enqueue("held", {}, callback_url=url)
        run = launch(
            *("--workers", 2, "--tasks", tasks),
            program=("-c", PATIENT_TO_THE_LAST + PATIENT),
            **ALLOWED,
        )
        wait_until(lambda: noted("begun"), "a job is held")
        wait_for_courier(run, database)
        run.signal(signal.SIGTERM)
        wait_until(lambda: "claiming nothing more" in run.stderr, "it stops")
        run.signal(signal.SIGTERM)

        # The last deliveries would have an hour.
        assert run.wait() == 0
