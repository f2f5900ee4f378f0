"""Two hosts with addresses of their own, and one that is cut off from the database and back."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from tests.lifecycle.conftest import clean_environment, wait_until
from worker.database import migrations
from worker.database.client import Database
from worker.database.private_server import PrivateServer
from worker.database_settings import DatabaseSettings
from worker.drill import finish_ledger
from worker.drill.cluster.network import Network
from worker.intake.bulk import add_many

pytestmark = pytest.mark.cluster

REPO = Path(__file__).parents[2]
TASKS = REPO / "tests" / "lifecycle" / "steerable_tasks.py"
SERVER, PORT, PASSWORD = 3, 3306, "hoot"
LEASE_SECONDS = 6

# A server that listens on its namespace's own address, and is still reached here by its socket.
START = """
import sys
from pathlib import Path
from worker.database.private_server import PrivateServer
PrivateServer(Path(sys.argv[1]), port=int(sys.argv[2]),
              extra_args=["--bind-address=0.0.0.0"]).start()
"""


@pytest.fixture
def net():
    with closing(Network(3, tag="h")) as net:
        yield net


@pytest.fixture
def db(net, tmp_path):
    """The queue on a server in the third namespace, reached by its socket."""
    folder = tmp_path / "mysql"
    starting = [*net.command(SERVER), sys.executable, "-c", START, str(folder), str(PORT)]
    subprocess.run(starting, cwd=REPO, check=True, timeout=60)
    server = PrivateServer(folder)
    settings = DatabaseSettings(unix_socket=str(server.socket_path), user="root")
    try:
        with closing(Database(replace(settings, database="mysql"))) as root:
            root.run_statement(f"CREATE DATABASE {settings.database} CHARACTER SET utf8mb4")
        with closing(Database(settings, patience_seconds=20)) as db:
            migrations.migrate(db)
            db.run_statement(f"CREATE USER owl@'%%' IDENTIFIED BY '{PASSWORD}'")
            db.run_statement(f"GRANT ALL ON {settings.database}.* TO owl@'%%'")
            finish_ledger.install(db)
            yield db
    finally:
        server.kill()


@pytest.fixture
def host(net, db, tmp_path):
    """Start a run on a host; all of them end with the test."""
    started = []
    tasks = tmp_path / "tasks.py"
    tasks.write_text(TASKS.read_text(encoding="utf-8"), encoding="utf-8")

    def host(number, name):
        url = f"mysql://owl:{PASSWORD}@{net.address(SERVER)}:{PORT}/{db.settings.database}"
        flags = ["--workers=1", "--slots=auto", "--follow", f"--tasks={tasks}"]
        flags += [f"--lease={LEASE_SECONDS}s", "--server-grace=1s"]
        with (tmp_path / f"{name}.log").open("wb") as log:
            launcher = subprocess.Popen(
                [*net.command(number), sys.executable, "launcher.py", *flags],
                cwd=REPO,
                env=clean_environment(
                    tmp_path,
                    DATABASE_URL=url,
                    NIGHTSHIFT_HOST=name,
                    NIGHTSHIFT_STATE_DIR=str(tmp_path / name),
                ),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        started.append(launcher)
        return launcher

    yield host
    for launcher in started:
        if launcher.poll() is None:
            launcher.kill()
        launcher.wait(20)


def slots(db):
    rows = db.run_statement(
        "SELECT r.host FROM slots s JOIN runs r ON r.id = s.run_id ORDER BY s.slot"
    )
    return [row["host"] for row in rows]


def done_by(db, name, since=0):
    """Count what a host has finished of the jobs after one."""
    rows = db.run_statement(
        "SELECT COUNT(*) AS n FROM work_queue q JOIN workers w ON w.id = q.incarnation "
        "JOIN runs r ON r.id = w.run_id WHERE q.status = 'done' AND r.host = %(name)s "
        "AND q.id > %(since)s",
        {"name": name, "since": since},
    )
    return rows[0]["n"]


def test_a_host_that_is_cut_off_loses_its_slot_and_takes_one_when_it_is_back(net, db, host):
    def add(count=10):
        add_many(db, "noop", [{} for _ in range(count)])

    def all_done():
        left = "SELECT COUNT(*) AS n FROM work_queue WHERE status <> 'done'"
        return db.run_statement(left)[0]["n"] == 0

    def both_work(since=0):
        return (done_by(db, "alpha", since) and done_by(db, "beta", since)) or add()

    alpha = host(1, "alpha")
    wait_until(lambda: slots(db) == ["alpha"], "alpha has a slot")
    beta = host(2, "beta")
    wait_until(lambda: slots(db) == ["alpha", "beta"], "each has one")
    wait_until(both_work, "both work", 60, every=0.5)

    net.cut(2)
    add()
    wait_until(lambda: slots(db) == ["alpha"], "beta's slot is free after its lease", 60)
    wait_until(all_done, "alpha does what beta would have done", 60)
    time.sleep(LEASE_SECONDS)
    assert beta.poll() is None

    net.mend(2)
    wait_until(lambda: slots(db) == ["alpha", "beta"], "beta is back and has a slot", 90)
    last = db.run_statement("SELECT MAX(id) AS id FROM work_queue")[0]["id"]
    wait_until(lambda: both_work(last), "beta works again", 60, every=0.5)
    wait_until(all_done, "all is done", 60)
    for launcher in (alpha, beta):
        launcher.send_signal(signal.SIGTERM)

    assert (alpha.wait(30), beta.wait(30)) == (0, 0)
    added = [row["id"] for row in db.run_statement("SELECT id FROM work_queue")]
    assert finish_ledger.finishes(db) == dict.fromkeys(added, 1)
    assert slots(db) == []
