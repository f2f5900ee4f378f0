"""A night as it looks in the morning, written into a scratch database: for screenshots and tests.

A run that lives, one that was killed, jobs in every state, failures in groups with evidence,
profiles that wait for a person, limits, breakers, a pause and an outage. `words` may be hostile.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench import sample_queues
from worker.database.client import Database
from worker.system.identity import boot_id, machine_id, pid_namespace, start_ticks

DONE, FAILED, PENDING, WAITING = 60, 14, 30, 5
# The living run has beaten two hours ahead, so that it lives as long as anybody looks.
BEATS_AHEAD = -7200
GROUPS = {
    "3f9a1c2e00000001": ("price", "price: TimeoutError waiting for .price at shop.py:price", 8),
    "b81e07d400000002": ("visit", "visit: HTTP 503 from portal.example.org", 5),
    "5c20aa9100000003": ("invoice", "invoice: Fail: password has expired at portal.py:log_in", 1),
}


@dataclass(frozen=True, slots=True)
class Night:
    """What was written: the numbers of some jobs, and where their evidence is."""

    failed: int
    done: int
    running: int
    pending: int
    half_done: int
    errors_dir: Path


def fill(db: Database, errors_dir: Path, words: str = "", *, with_pictures: bool = True) -> Night:
    """Write the night; `words` is put wherever a stranger may have written something."""
    _runs(db)
    _done(db, words)
    failed = _failures(db, errors_dir, words, with_pictures)
    running = _unfinished(db, words)
    half_done = _half_done(db, words)
    sample_queues.fill(db, words, first=DONE + FAILED + 2)
    _guards(db, words)
    _profiles(db, words)
    _events(db, words)
    return Night(failed, 1, running, DONE + FAILED + 2, half_done, errors_dir)


def _sql(db: Database, text: str, **params: Any) -> None:
    db.run_statement(text, params)


def _runs(db: Database) -> None:
    here = {
        "machine": machine_id(),
        "boot": boot_id(),
        "namespace": pid_namespace(),
        "host": socket.gethostname(),
    }
    pulse = {
        "workers": [
            {"incarnation": 1, "phase": "working", "job_id": DONE + FAILED + 1,
             "job_seconds": 4.2, "step": "opened", "memory_mb": 412},
            {"incarnation": 2, "phase": "idle", "job_id": None, "job_seconds": None, "step": ""},
        ],
    }  # fmt: skip
    insert = (
        "INSERT INTO runs (id, host, machine_id, boot_id, pid_namespace, pid, pid_started, "
        "first_slot, workers, total, started_at, heartbeat_at, pulse) VALUES (%(id)s, %(host)s, "
        "%(machine)s, %(boot)s, %(namespace)s, %(pid)s, %(started)s, 0, 2, 2, "
        "UTC_TIMESTAMP(6) - INTERVAL %(ago)s MINUTE, UTC_TIMESTAMP(6) - INTERVAL %(beat)s SECOND, "
        "%(pulse)s)"
    )
    # No process has this number and start: that run is dead.
    dead = {"id": 1, "pid": 2**22 - 3, "started": 1, "ago": 300, "beat": 600, "pulse": None}
    _sql(db, insert, **(here | dead | {"host": "night-2", "pulse": json.dumps(pulse)}))
    alive = {
        "id": 2,
        "pid": os.getpid(),
        "started": start_ticks(os.getpid()),
        "ago": 90,
        "beat": BEATS_AHEAD,
    }
    _sql(db, insert, **(here | alive | {"pulse": json.dumps(pulse)}))
    for number, slot, ago in ((1, 0, 90), (2, 1, 90), (3, 0, 30)):
        _sql(
            db,
            "INSERT INTO workers (id, run_id, slot, pid, pid_started, started_at) VALUES "
            "(%(id)s, 2, %(slot)s, 1, 1, UTC_TIMESTAMP(6) - INTERVAL %(ago)s MINUTE)",
            id=number, slot=slot, ago=ago,
        )  # fmt: skip


def _done(db: Database, words: str) -> None:
    for number in range(1, DONE + 1):
        _sql(
            db,
            "INSERT INTO work_queue (id, payload, status, worker_id, incarnation, attempts, task, "
            "fence, result, created_at, started_at, finished_at) VALUES (%(id)s, %(payload)s, "
            "'done', 0, %(inc)s, 1, 'visit', 1, %(result)s, UTC_TIMESTAMP(6) - INTERVAL 80 MINUTE, "
            "UTC_TIMESTAMP(6) - INTERVAL %(ago)s + 3 SECOND, "
            "UTC_TIMESTAMP(6) - INTERVAL %(ago)s SECOND)",
            id=number, inc=1 + number % 2, ago=(DONE - number) * 60 + 5,
            payload=json.dumps({"url": f"https://shop.example.com/p/{number}", "note": words}),
            result=json.dumps({"title": words or "Lamp", "status": 200}),
        )  # fmt: skip


def _failures(db: Database, errors_dir: Path, words: str, with_pictures: bool) -> int:
    number = DONE
    for key, (task, label, jobs) in GROUPS.items():
        _sql(
            db,
            "INSERT INTO failure_groups (fingerprint, task, label, first_seen, last_seen, "
            "failures, sample_job, sample_attempt) VALUES (%(key)s, %(task)s, %(label)s, "
            "UTC_TIMESTAMP(6) - INTERVAL 70 MINUTE, UTC_TIMESTAMP(6) - INTERVAL 1 MINUTE, "
            "%(jobs)s, %(job)s, 1)",
            key=key, task=task, label=f"{label} {words}"[:255], jobs=jobs, job=number + 1,
        )  # fmt: skip
        for _ in range(jobs):
            number += 1
            _failed(db, number, key, task, words, errors_dir)
            if with_pictures:
                leave_evidence(errors_dir / str(number) / "1", words, number)
    return DONE + 1


def _failed(
    db: Database, number: int, key: str | None, task: str, words: str, errors_dir: Path
) -> None:
    ago = (DONE + FAILED - number) * 240 + 60
    _sql(
        db,
        "INSERT INTO work_queue (id, payload, status, worker_id, incarnation, attempts, "
        "max_attempts, task, fence, last_error, fingerprint, dedupe_key, started_at, finished_at) "
        "VALUES (%(id)s, %(payload)s, 'error', 1, 2, 1, 4, %(task)s, 1, %(error)s, %(key)s, "
        "%(dedupe)s, UTC_TIMESTAMP(6) - INTERVAL %(ago)s + 31 SECOND, "
        "UTC_TIMESTAMP(6) - INTERVAL %(ago)s SECOND)",
        id=number, task=task, key=key, ago=ago, dedupe=f"key-{number}",
        payload=json.dumps({"url": f"https://shop.example.com/p/{number}", "note": words,
                            "password": "hunter2-secret"}),
        error=f"Traceback (most recent call last):\n  shop.py:14\nTimeoutError: {words} .price",
    )  # fmt: skip
    _sql(
        db,
        "INSERT INTO job_attempts (job_id, fence, attempt, outcome, worker_id, incarnation, "
        "started_at, finished_at, reason, fingerprint, evidence, evidence_dir, evidence_host, "
        "last_step, has_ended_job, used_profile) SELECT id, fence, 1, 'timed_out', 1, 2, "
        "started_at, finished_at, "
        "%(reason)s, fingerprint, %(place)s, %(folder)s, %(host)s, %(step)s, TRUE, %(profile)s "
        "FROM work_queue WHERE id = %(id)s",
        id=number, reason=f"Timeout 30000ms exceeded {words}"[:500], place=f"{number}/1",
        folder=str(errors_dir), host=socket.gethostname(), step=f"opened {words}"[:255],
        profile="acme-07" if task == "invoice" else None,
    )  # fmt: skip


def _unfinished(db: Database, words: str) -> int:
    number = DONE + FAILED + 1
    _sql(
        db,
        "INSERT INTO work_queue (id, payload, status, worker_id, incarnation, attempts, "
        "task, fence, timeout_seconds, lease_until, started_at) VALUES (%(id)s, %(payload)s, "
        "'in_progress', 0, 3, 1, 'price', 1, 60, UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, "
        "UTC_TIMESTAMP(6))",
        id=number, payload=json.dumps({"url": "https://shop.example.com/p/1", "note": words}),
    )  # fmt: skip
    for offset in range(PENDING + WAITING):
        _sql(
            db,
            "INSERT INTO work_queue (id, payload, priority, not_before, wait_reason) VALUES "
            "(%(id)s, %(payload)s, %(priority)s, UTC_TIMESTAMP(6) + INTERVAL %(wait)s MINUTE, "
            "%(reason)s)",
            id=number + 1 + offset, priority=offset % 3,
            payload=json.dumps({"url": f"https://portal.example.org/{offset}", "note": words}),
            wait=60 + offset if offset >= PENDING else None,
            reason=f"HTTP 503 {words}"[:255] if offset >= PENDING else None,
        )  # fmt: skip
    return number


def _half_done(db: Database, words: str) -> int:
    number = DONE + FAILED + 2 + PENDING + WAITING
    _sql(
        db,
        "INSERT INTO work_queue (id, payload, status, attempts, task, fence, irreversible_step, "
        "last_error, fingerprint, finished_at) VALUES (%(id)s, '{}', 'error', 1, 'order', 1, "
        "%(step)s, 'crashed', '00000000000000ff', UTC_TIMESTAMP(6))",
        id=number, step=f"paying {words}"[:255],
    )  # fmt: skip
    return number


def _guards(db: Database, words: str) -> None:
    _sql(
        db,
        "INSERT INTO limits (name, concurrent, set_by, set_at) VALUES "
        "('site:books.example.com', 2, %(by)s, UTC_TIMESTAMP(6))",
        by=f"mara {words}"[:255],
    )
    _sql(
        db,
        "INSERT INTO breakers (name, state, failures, window_start, openings, opened_at, until, "
        "reason) VALUES ('site:portal.example.org', 'open', 8, UTC_TIMESTAMP(6), 1, "
        "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, %(reason)s)",
        reason=f"8 answers of HTTP 503 within a minute {words}"[:255],
    )
    _sql(
        db,
        "INSERT INTO proxies (name, scheme, host, port, username, password, region, added_at) "
        "VALUES ('de-3', 'http', 'proxy.example.net', 8080, 'me', 'proxy-secret', 'de', "
        "UTC_TIMESTAMP(6))",
    )


def _profiles(db: Database, words: str) -> None:
    states = (("acme-07", "review_required"), ("acme-08", "available"), ("acme-09", "quarantined"))
    for name, state in states:
        _sql(
            db,
            "INSERT INTO profiles (id, account_id, provider, endpoint, state, state_reason, "
            "state_by, state_since, created_at) VALUES (%(id)s, 'acme', 'cdp', "
            "'ws://me:endpoint-secret@127.0.0.1:9', %(state)s, %(reason)s, 'worker 1', "
            "UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))",
            id=name, state=state, reason=f"the password has expired {words}"[:500],
        )  # fmt: skip


def _events(db: Database, words: str) -> None:
    detail = json.dumps({"reason": f"proxy list replaced {words}", "by": "mara"})
    for kind, name, ago, lasted in (
        ("pause", "", 3000, 360), ("outage", "night-1", 1500, 44),
        ("breaker", "site:portal.example.org", 660, None),
    ):  # fmt: skip
        _sql(
            db,
            "INSERT INTO events (kind, name, began_at, ended_at, detail) VALUES (%(kind)s, "
            "%(name)s, UTC_TIMESTAMP(6) - INTERVAL %(ago)s SECOND, "
            "UTC_TIMESTAMP(6) - INTERVAL %(end)s SECOND, %(detail)s)",
            kind=kind, name=name, ago=ago, end=None if lasted is None else ago - lasted,
            detail=detail,
        )  # fmt: skip


def leave_evidence(folder: Path, words: str, number: int) -> None:
    """Write what a failed attempt leaves: a picture, the page, the console, the network."""
    folder.mkdir(parents=True)
    (folder / "screenshot.png").write_bytes(_picture(number))
    (folder / "page.html").write_text(
        f"<title>{words}</title><h1>Sale</h1><script>document.title='ran'</script>"
        f"<img src='http://tracker.example/x.png'>{words}"
    )
    (folder / "console.log").write_text(f"    1.210 warning   price widget v1 {words}\n")
    network = [{"at": 0.4, "status": 200, "method": "GET", "type": "document",
                "url": "https://shop.example.com/p/1", "headers": {"server": words}},
               {"at": 1.2, "status": 410, "method": "GET", "type": "fetch",
                "url": f"https://shop.example.com/api?v=1{words}", "headers": {}}]  # fmt: skip
    (folder / "network.json").write_text(json.dumps({"responses": network}))
    steps = [{"at": "0.0 s", "text": "started"}, {"at": "1.2 s", "text": f"opened {words}"}]
    change = {"selector": f".price{words}", "then": 1, "now": 0, "nearest_text": f"€ 149 {words}",
              "nearest": f".product-price{words}"}  # fmt: skip
    good = {"job_id": 12, "at": "2026-01-31T22:58:00Z", "url": words, "comparison": change}
    facts = {"final_url": f"https://shop.example.com/{words}", "proxy": "de-3", "last_good": good,
             "profile": "acme-08", "steps": steps, "captured": {"screenshot": "ok"}}  # fmt: skip
    (folder / "good.jpg").write_bytes(_picture(number + 5))
    (folder / "good.html").write_text(f"<h1>Lamp</h1><p class=price>€ 189.00</p>{words}")
    (folder / "error.json").write_text(json.dumps(facts))
    (folder / "traceback.txt").write_text(f"TimeoutError: waiting for .price {words}\n")
    (folder / "trace.zip").write_bytes(b"PK\x05\x06" + bytes(18))


def _picture(number: int) -> bytes:
    """Draw a small page as PNG: a head, a few lines, a price."""
    width, height, rows = 320, 200, []
    shade = 40 + number * 9 % 120
    for y in range(height):
        row = bytearray([255] * width * 3)
        if y < 36:
            row = bytearray([38, 52, shade] * width)
        elif 60 < y < 72 or (84 + number % 30) < y < (92 + number % 30):
            row[60:600] = bytes([190, 198, 206] * 180)
        elif 120 < y < 160:
            row[60:240] = bytes([200, 60, 48] * 60)
        rows.append(b"\0" + bytes(row))
    data = zlib.compress(b"".join(rows))
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )
