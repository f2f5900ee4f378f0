"""A full night for the pictures in docs/: six workers, 20,000 jobs, three groups of failures.

It is written on top of the sample night, which has the profiles, limits and breakers.
"""

from __future__ import annotations

import json
import random
import socket
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from bench import sample_night
from bench.sample_night import GROUPS, leave_evidence
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.history import archive
from worker.reporting.rollups import Rollups
from worker.system import live_wall

DONE, FIRST_ID, WORKERS, HOURS = 20_000, 1_000, 6, 8
PENDING = 6_000
# When somebody paused it, and for how long.
PAUSED, LASTED = timedelta(minutes=135), timedelta(minutes=6)
FAILED = dict(zip(GROUPS, (214, 96, 31), strict=True))
# A job of the first group that was tried four times.
TRIED = 90_000
TASKS = ("price", "visit", "extract", "invoice")
SITES = ("shop.example.com", "museum.example.net", "fabrik.example.com", "billing.example.net")
PORTAL = "portal.example.org"
STEPS = ("opened", "read price", "opened", "filled form", "logged in", "opened")
MEMORY = (412, 388, 455, 397, 530, 401)
AT_ONCE = 500
SHOP = """<body style="margin:0;font:18px system-ui"><header style="background:#26344a;color:#fff;
padding:22px 40px;font-weight:600">{site}</header><main style="padding:36px 40px">{body}</main>"""
PAGES = {
    "price": "<h1>Desk lamp, brass</h1><p style='color:#a33;font-size:30px'>SALE</p><p>In stock, "
    "delivered on Tuesday.</p><div style='background:#dde3ea;height:220px;width:420px'></div>",
    "visit": "<h1>503 Service Unavailable</h1><p>The portal is being maintained. Come back soon.",
    "invoice": "<h1>Your password has expired</h1><p>Choose a new one to go on.</p><input><br><br>"
    "<button style='font-size:18px'>Go on</button>",
    "extract": "<h1>Catalogue</h1><ul><li>Chairs<li>Tables<li>Lamps<li>Rugs</ul><p>1,204 items</p>",
}


def fill(db: Database, errors_dir: Path, browser: Browser) -> None:
    """Write the night and its roll-ups."""
    sample_night.fill(db, errors_dir)
    now = archive.now(db)
    _done(db, now)
    _failures(db, now, errors_dir)
    _tried(db, now, errors_dir)
    _waiting(db)
    _run(db, now)
    _fit_sample(db, now, errors_dir)
    rollups = Rollups.of(db, "pictures")
    rollups.writer.hold(by_force=True)
    while rollups.beat():
        pass
    for folder in sorted(errors_dir.glob("*/*")):
        task = json.loads((folder / "task").read_text()) if (folder / "task").exists() else "price"
        (folder / "screenshot.png").write_bytes(_page(browser, task, "png"))
        if task != "price":
            facts = json.loads((folder / "error.json").read_text())
            (folder / "error.json").write_text(json.dumps(facts | {"last_good": None}))


def show_pages(browser: Browser, state_dir: Path, database: DatabaseSettings) -> None:
    """Put a picture of each worker's page on the live wall."""
    wall = live_wall.folder_of(state_dir, database.key)
    live_wall.ask(wall)
    for slot in range(WORKERS):
        task = TASKS[slot % len(TASKS)]
        live_wall.keep(wall, 10 + slot, TRIED + 1 + slot, _page(browser, task, "jpeg"))


def _page(browser: Browser, task: str, kind: Any) -> bytes:
    page = browser.new_page(viewport={"width": 960, "height": 600})
    page.set_content(SHOP.format(site=SITES[TASKS.index(task)], body=PAGES[task]))
    image = page.screenshot(type=kind)
    page.close()
    return image


def _insert(db: Database, columns: str, rows: list[str]) -> None:
    """Insert rows of numbers and texts of our own."""
    for start in range(0, len(rows), AT_ONCE):
        values = ", ".join(rows[start : start + AT_ONCE]).replace("%", "%%")
        db.run_statement(f"INSERT INTO work_queue ({columns}) VALUES {values}", {})


def _ends(now: datetime, number: int) -> list[datetime]:
    """Spread ends over the night, with a pause."""
    dice = random.Random(7)
    start = now - timedelta(hours=HOURS)
    found = []
    for place in range(number):
        share = place / number
        moment = start + share * timedelta(hours=HOURS) + timedelta(seconds=dice.uniform(-40, 40))
        if PAUSED < moment - start < PAUSED + LASTED:
            moment = start + dice.uniform(0.4, 0.99) * timedelta(hours=HOURS)
        found.append(min(moment, now - timedelta(seconds=2)))
    return found


def _done(db: Database, now: datetime) -> None:
    dice, rows = random.Random(3), []
    for place, end in enumerate(_ends(now, DONE)):
        kind, slot = place % len(TASKS), dice.randrange(WORKERS)
        took = dice.lognormvariate(1.2, 0.6)
        begun = end - timedelta(seconds=took)
        url = json.dumps({"url": f"https://{SITES[kind]}/p/{place}"})
        tries = 2 if dice.random() < 0.03 else 1
        rows.append(
            f"({FIRST_ID + place}, '{url}', 'done', {slot}, {10 + slot}, {tries}, '{TASKS[kind]}', "
            f"{tries}, '{now - timedelta(hours=HOURS)}', '{begun}', '{end}')"
        )
    columns = "id, payload, status, worker_id, incarnation, attempts, task, fence, created_at, "
    _insert(db, columns + "started_at, finished_at", rows)


def _failures(db: Database, now: datetime, errors_dir: Path) -> None:
    dice, number = random.Random(5), FIRST_ID + DONE
    for (key, (task, _, had)), (began, lasted) in zip(
        GROUPS.items(), ((5.0, 2.6), (2.5, 0.5), (6.0, 2.7)), strict=True
    ):
        for place in range(FAILED[key] - had - (task == "price")):
            number += 1
            ago = timedelta(hours=began - lasted * (place / FAILED[key]) + dice.uniform(0, 0.1))
            _failed(db, number, key, task, now - ago, 1)
            if place in (FAILED[key] // 2 - had, FAILED[key] - had - 1 - (task == "price")):
                _leave(errors_dir / str(number) / "1", task, number)
        db.run_statement(
            "UPDATE failure_groups SET failures = %(jobs)s, first_seen = %(first)s WHERE "
            "fingerprint = %(key)s",
            {"jobs": FAILED[key], "key": key, "first": now - timedelta(hours=began)},
        )


def _leave(folder: Path, task: str, number: int) -> None:
    leave_evidence(folder, "", number)
    (folder / "task").write_text(json.dumps(task))
    network = json.loads((folder / "network.json").read_text())
    for answer, took, size in zip(network["responses"], (0.412, 0.063), (38_212, 181), strict=True):
        answer |= {"took": took, "headers": {"content-length": str(size)}}
    (folder / "network.json").write_text(json.dumps(network))


def _failed(db: Database, number: int, key: str, task: str, end: datetime, attempts: int) -> None:
    site = PORTAL if task == "visit" else SITES[TASKS.index(task)]
    url = f"https://{site}/p/{number}"
    db.run_statement(
        "INSERT INTO work_queue (id, payload, status, worker_id, incarnation, attempts, "
        "max_attempts, task, fence, last_error, fingerprint, created_at, started_at, finished_at) "
        "VALUES (%(id)s, %(payload)s, 'error', %(slot)s, %(inc)s, %(attempts)s, 4, %(task)s, "
        "%(attempts)s, 'TimeoutError: Locator.inner_text: Timeout 30000ms exceeded', %(key)s, "
        "%(added)s, %(begun)s, %(end)s)",
        {"id": number, "payload": json.dumps({"url": url, "currency": "EUR"}), "key": key,
         "slot": number % WORKERS, "inc": 10 + number % WORKERS, "attempts": attempts,
         "task": task, "added": end - timedelta(hours=1), "end": end,
         "begun": end - timedelta(seconds=31)},
    )  # fmt: skip
    _attempt(db, number, attempts, end, "timed_out", has_ended=True)


def _attempt(
    db: Database, number: int, attempt: int, end: datetime, outcome: str, *, has_ended: bool
) -> None:
    db.run_statement(
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, "
        "started_at, finished_at, reason, fingerprint, evidence, evidence_host, last_step, "
        "has_ended_job, used_profile) SELECT id, %(attempt)s, %(attempt)s, %(outcome)s, worker_id, "
        "incarnation, "
        "%(begun)s, %(end)s, 'Timeout 30000ms exceeded waiting for .price', fingerprint, "
        "%(place)s, %(host)s, 'opened', %(ended)s, IF(task = 'invoice', 'acme-07', NULL) "
        "FROM work_queue WHERE id = %(id)s",
        {"id": number, "attempt": attempt, "outcome": outcome, "end": end, "ended": has_ended,
         "begun": end - timedelta(seconds=31), "place": f"{number}/{attempt}",
         "host": socket.gethostname()},
    )  # fmt: skip


def _tried(db: Database, now: datetime, errors_dir: Path) -> None:
    """Add a job whose four attempts failed, with longer and longer waits."""
    end = now - timedelta(hours=2, minutes=24)
    _failed(db, TRIED, next(iter(GROUPS)), "price", end, 4)
    for attempt, before in ((3, 162), (2, 258), (1, 321)):
        at = end - timedelta(seconds=before)
        _attempt(db, TRIED, attempt, at, "retry", has_ended=False)
        _leave(errors_dir / str(TRIED) / str(attempt), "price", TRIED)
    _leave(errors_dir / str(TRIED) / "4", "price", TRIED)


def _waiting(db: Database) -> None:
    rows = []
    for place in range(PENDING):
        site = PORTAL if place % 5 == 0 else SITES[place % len(SITES)]
        url = json.dumps({"url": f"https://{site}/n/{place}"})
        rows.append(f"({TRIED + 100 + place}, '{url}', '{TASKS[place % len(TASKS)]}')")
    _insert(db, "id, payload, task", rows)


def _run(db: Database, now: datetime) -> None:
    """Let run 2 have six workers, each at a job, and one that was restarted for memory."""
    workers = []
    for slot in range(WORKERS):
        job, kind = TRIED + 1 + slot, slot % len(TASKS)
        seconds = (4.1, 2.0, 9.3, 3.2, 47.0, 3.4)[slot]
        url = json.dumps({"url": f"https://{SITES[kind]}/p/{job}"})
        row = f"({job}, '{url}', 'in_progress', {slot}, {10 + slot}, 1, '{TASKS[kind]}', 1, 60, "
        _insert(
            db,
            "id, payload, status, worker_id, incarnation, attempts, task, fence, timeout_seconds, "
            "lease_until, started_at",
            [row + f"'{now + timedelta(hours=1)}', '{now - timedelta(seconds=seconds)}')"],
        )
        workers.append(
            {"incarnation": 10 + slot, "phase": "working", "job_id": job, "job_seconds": seconds,
             "step": STEPS[slot], "memory_mb": MEMORY[slot]}
        )  # fmt: skip
        _lives(db, now, slot)
    db.run_statement(
        "UPDATE runs SET host = %(host)s, workers = 6, total = 6, started_at = %(start)s, "
        "pulse = %(pulse)s WHERE id = 2",
        {"host": socket.gethostname(), "start": now - timedelta(hours=HOURS),
         "pulse": json.dumps({"workers": workers})},
    )  # fmt: skip
    db.run_statement("DELETE FROM runs WHERE id = 1", {})
    db.run_statement("DELETE FROM workers WHERE id < 10", {})


def _lives(db: Database, now: datetime, slot: int) -> None:
    insert = (
        "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at, ended_at, ending) "
        "VALUES (%(id)s, 2, %(slot)s, 1, 1, %(start)s, %(end)s, %(ending)s)"
    )
    start, again = now - timedelta(hours=HOURS), now - timedelta(hours=3)
    if slot == 1:
        first = {"id": 100 + slot, "slot": slot, "start": start, "end": again}
        db.run_statement(insert, first | {"ending": "killed by SIGKILL, out of memory"})
        start = again
    now_living = {"id": 10 + slot, "slot": slot, "start": start, "end": None, "ending": None}
    db.run_statement(insert, now_living)


def _fit_sample(db: Database, now: datetime, errors_dir: Path) -> None:
    """Let the sample night's own jobs and events belong to this night."""
    for table in ("work_queue", "job_attempts"):
        key = "id" if table == "work_queue" else "job_id"
        db.run_statement(
            f"UPDATE {table} SET incarnation = 10 + {key} MOD 6, worker_id = {key} MOD 6 "
            f"WHERE {key} < %(first)s AND incarnation < 3",
            {"first": FIRST_ID},
        )
    began = now - timedelta(hours=HOURS) + PAUSED
    for kind, reason in (("pause", "proxy list replaced"),
                         ("breaker", "8 answers of HTTP 503 within a minute")):  # fmt: skip
        detail = json.dumps({"reason": reason, "by": "mara"})
        db.run_statement("UPDATE events SET detail = %(detail)s WHERE kind = %(kind)s",
                         {"detail": detail, "kind": kind})  # fmt: skip
    db.run_statement("UPDATE events SET began_at = %(began)s, ended_at = %(ended)s WHERE "
                     "kind = 'pause'", {"began": began, "ended": began + LASTED})  # fmt: skip
    for number in range(sample_night.DONE + 1, sample_night.DONE + sample_night.FAILED + 1):
        row = db.run_statement("SELECT task FROM work_queue WHERE id = %(id)s", {"id": number})[0]
        site = PORTAL if row["task"] == "visit" else SITES[TASKS.index(row["task"])]
        payload = json.dumps({"url": f"https://{site}/p/{number}"})
        db.run_statement("UPDATE work_queue SET payload = %(payload)s WHERE id = %(id)s",
                         {"payload": payload, "id": number})  # fmt: skip
        (errors_dir / str(number) / "1" / "task").write_text(json.dumps(row["task"]))
