"""`launcher.py deliver`: what is due is sent, by one or by many, and killed or not."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from standardwebhooks.webhooks import Webhook

from examples.webhook_receiver import Inbox, serve, verify
from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of
from worker.queue import batches
from worker.queue.batches import BatchWatch
from worker.webhooks import outbox

SECRET = "correct horse battery staple"
ALLOWED = {"NIGHTSHIFT_WEBHOOK_SECRET": SECRET, "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE": "1"}


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings), **ALLOWED)


@pytest.fixture
def finish(queue, claim_as):
    """Finish new jobs with a callback."""

    def finish(url, jobs=1):
        ids = []
        for number in range(jobs):
            ids.append(queue.enqueue("noop", {}, callback_url=url))
            queue.complete(claim_as(), {"number": number})
        return ids

    return finish


@pytest.fixture
def inbox(tmp_path):
    return Inbox(tmp_path / "events.sqlite")


@contextmanager
def receiver(answer):
    """Receive with a function from the number of the request and its job to a status."""
    got = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            verify(SECRET, self.headers, body)
            Webhook(SECRET.encode()).verify(body, dict(self.headers))
            got.append(json.loads(body)["job_id"])
            self.send_response(answer(len(got), got[-1]))
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", got
        server.shutdown()
        thread.join()


def test_what_is_due_is_delivered_and_verified(cli, database, finish, inbox):
    with serve(SECRET, inbox) as url:
        jobs = finish(url, 20)
        done = cli("deliver")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "20 delivered, 0 failed, 0 given up; 0 waiting\n"
    assert sorted(event["job_id"] for event in inbox.events()) == jobs
    assert outbox.counts(database) == {"waiting": 0, "given_up": 0}


def test_the_end_of_a_batch_is_delivered_and_verified(cli, database, queue, claim_as, inbox):
    with serve(SECRET, inbox) as url:
        database.transaction(lambda tx: batches.add(tx, "monday", "me", url))
        for number in range(2):
            queue.enqueue("noop", {"number": number}, batch="monday")
            queue.complete(claim_as(), {})
        assert BatchWatch(database).look() == ["monday"]
        done = cli("deliver")

    assert done.stdout == "1 delivered, 0 failed, 0 given up; 0 waiting\n"
    (event,) = inbox.events()
    assert event.pop("event_id")
    assert datetime.fromisoformat(event.pop("happened_at")).tzinfo is not None
    counts = {"batch": "monday", "done": 2, "failed": 0, "cancelled": 0}
    assert event == {"event": "batch.finished"} | counts


def test_nothing_due_is_nothing_said_when_quiet(cli, database, finish, inbox):
    assert cli("deliver", "--quiet").stdout == ""
    with serve(SECRET, inbox) as url:
        finish(url)
        done = cli("deliver", "--quiet")

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len(inbox.events()) == 1


def test_several_deliverers_at_once_deliver_each_event_once(settings, tmp_path, database, finish):
    with receiver(lambda number, job: 200) as (url, got):
        jobs = finish(url, 60)
        environment = clean_environment(tmp_path, DATABASE_URL=url_of(settings), **ALLOWED)
        command = [sys.executable, "launcher.py", "deliver", "--json"]
        running = [
            subprocess.Popen(command, cwd=REPO, env=environment, stdout=subprocess.PIPE)
            for _ in range(3)
        ]
        told = [json.loads(process.communicate(timeout=60)[0]) for process in running]

    assert Counter(got) == Counter(jobs)
    assert sum(each["delivered"] for each in told) == 60
    assert outbox.counts(database) == {"waiting": 0, "given_up": 0}


def test_a_deliverer_killed_midway_loses_nothing(settings, tmp_path, database, finish, cli):
    environment = clean_environment(tmp_path, DATABASE_URL=url_of(settings), **ALLOWED)
    reached, go_on = threading.Event(), threading.Event()

    def answer(number, job):
        if number >= 10 and not go_on.is_set():
            reached.set()
            go_on.wait(30)
        return 200

    with receiver(answer) as (url, got):
        jobs = finish(url, 30)
        command = [sys.executable, "launcher.py", "deliver"]
        deliverer = subprocess.Popen(command, cwd=REPO, env=environment)
        assert reached.wait(30)
        deliverer.kill()
        deliverer.wait()
        go_on.set()
        assert cli("deliver", "--json").returncode == 0
        left = outbox.counts(database)["waiting"]
        # Those that it held are due again when their lease ends.
        database.run_statement(
            "UPDATE outbox SET next_try_at = UTC_TIMESTAMP(6) - INTERVAL 1 SECOND"
            " WHERE next_try_at IS NOT NULL"
        )
        done = cli("deliver", "--json")

    assert 1 <= left <= 8
    assert json.loads(done.stdout)["delivered"] == left
    assert set(got) == set(jobs)
    assert outbox.counts(database) == {"waiting": 0, "given_up": 0}


def test_a_receiver_that_is_down_holds_up_no_other(cli, database, finish, inbox, closed_port):
    down = finish(f"http://127.0.0.1:{closed_port}/", 50)
    with serve(SECRET, inbox) as url:
        jobs = finish(url, 10)
        done = cli("deliver", "--json")

    told = json.loads(done.stdout)
    assert sorted(event["job_id"] for event in inbox.events()) == jobs
    assert told["delivered"] == 10
    # A few found out that nobody is there; the others were spared.
    assert 1 <= told["failed"] <= 8
    assert told["waiting"] == len(down)
    assert done.stderr.count("\n") == 1
    assert f"to http://127.0.0.1:{closed_port}: ConnectError" in done.stderr


def test_a_poisoned_event_holds_up_no_other_of_its_receiver(cli, database, finish):
    bad: list[int] = []
    with receiver(lambda number, job: 500 if job in bad else 200) as (url, _got):
        jobs = finish(url, 20)
        bad.append(jobs[0])
        done = cli("deliver", "--json")

    told = json.loads(done.stdout)
    assert (told["delivered"], told["failed"], told["waiting"]) == (19, 1, 1)


def test_gone_is_given_up_shown_and_tried_again_when_asked(cli, database, finish):
    statuses = iter([410, 200])
    with receiver(lambda number, job: next(statuses)) as (url, _got):
        (job,) = finish(url)
        first = cli("deliver", "--quiet")
        listed = cli("deliver", "--list")
        as_json = json.loads(cli("deliver", "--list", "--json").stdout)
        again = cli("deliver", "--retry-given-up")

    assert "1 given up" in first.stdout
    assert f"job {job}  job.done" in listed.stdout
    assert "given up: answered 410: the receiver wants no more" in listed.stdout
    assert (as_json["waiting"], as_json["given_up"]) == (0, 1)
    assert as_json["events"][0]["to"] == url
    assert again.stdout == "1 event tried again; 1 delivered, 0 failed, 0 given up; 0 waiting\n"


def test_a_private_address_is_refused_without_leave(settings, tmp_path, database, finish, inbox):
    environment = {"NIGHTSHIFT_WEBHOOK_SECRET": SECRET, "DATABASE_URL": url_of(settings)}
    with serve(SECRET, inbox) as url:
        finish(url)
        finish(url.replace("127.0.0.1", "localhost"))
        done = run_command(tmp_path, "deliver", "--json", **environment)

    assert json.loads(done.stdout)["failed"] == 2
    assert "NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE=1 allows it" in done.stderr
    assert inbox.events() == []


def test_without_a_secret_nothing_is_sent(settings, tmp_path, database, finish, inbox):
    with serve(SECRET, inbox) as url:
        finish(url)
        done = run_command(tmp_path, "deliver", DATABASE_URL=url_of(settings))

    assert done.returncode == 78
    assert done.stderr.startswith("nightshift: webhooks are not delivered: ")
    assert done.stderr.count("\n") == 1
    assert outbox.counts(database) == {"waiting": 1, "given_up": 0}
    assert inbox.events() == []


def test_no_secret_of_a_url_is_ever_said(cli, database, finish):
    with receiver(lambda number, job: 500) as (url, _):
        finish(url.replace("//", "//walter:hunter2@") + "/sesame/hook?key=mellon")
        said = [cli("deliver"), cli("deliver", "--list"), cli("deliver", "--list", "--json")]

    for done in said:
        for secret in ("hunter2", "sesame", "mellon", "walter", SECRET):
            assert secret not in done.stdout + done.stderr
    assert "answered 500" in said[0].stderr
    (row,) = database.run_statement("SELECT last_problem FROM outbox")
    assert row["last_problem"] == "answered 500"


def test_enqueue_takes_a_callback_url_and_refuses_a_wrong_one_without_repeating_it(cli, database):
    good = cli("enqueue", "https://example.com/", "--callback-url", "https://me:pw@host.example/x")
    bad = cli("enqueue", "https://example.com/", "--callback-url", "ftp://me:sesame@host.example/")

    assert good.returncode == 0
    (row,) = database.run_statement("SELECT callback_url FROM work_queue")
    assert row["callback_url"] == "https://me:pw@host.example/x"
    assert bad.returncode == 2
    assert "http://… or https://…" in bad.stderr
    assert "sesame" not in bad.stderr


def test_listing_and_sending_are_two_things(cli, database):
    assert cli("deliver", "--list", "--retry-given-up").returncode == 2
