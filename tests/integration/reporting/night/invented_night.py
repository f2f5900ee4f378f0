"""An invented night in a real database: six workers, three kinds of failure, every mishap."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from worker.database.client import Database
from worker.reporting.rollups import Rollups

WORKERS = 6
HOURS = 12
TASKS = ("visit", "price", "extract")


@dataclass(slots=True)
class InventedNight:
    """What was put in, for comparison."""

    start: datetime
    end: datetime
    run_id: int = 0
    done: int = 0
    failed: int = 0
    again: int = 0
    recovered: int = 0
    groups: dict[str, int] = field(default_factory=dict)


def png(width: int = 64, height: int = 40, colour: bytes = b"\x30\x60\xa0") -> bytes:
    """Make a small picture of one colour."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    rows = (b"\x00" + colour * width) * height
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(rows))
        + chunk(b"IEND", b"")
    )


def invent(db: Database, now: datetime, errors_dir: Path, *, jobs: int = 2000) -> InventedNight:
    """Put in a night that ended five minutes ago, seven small nights before it, and roll-ups."""
    end = now - timedelta(minutes=5)
    night = InventedNight(end - timedelta(hours=HOURS), end)
    for back in range(7, 0, -1):
        _earlier_night(db, night, timedelta(days=back), jobs // 5)
    night.run_id = _run(db, night.start, end, "night-1")
    _workers(db, night)
    _done(db, night, jobs)
    _failures(db, night, errors_dir)
    _mishaps(db, night)
    keeper = Rollups.of(db, "a test")
    while keeper.beat():
        pass
    return night


def insert(db: Database, table: str, rows: list[dict[str, Any]]) -> None:
    """Put rows into a table, many with one statement."""
    for first in range(0, len(rows), 500):
        part = rows[first : first + 500]
        names = list(part[0])
        values = ", ".join(
            "(" + ", ".join(f"%({name}_{place})s" for name in names) + ")"
            for place in range(len(part))
        )
        given = {f"{name}_{place}": row[name] for place, row in enumerate(part) for name in names}
        db.run_statement(f"INSERT INTO {table} ({', '.join(names)}) VALUES {values}", given)


def last_id(db: Database, table: str) -> int:
    return int(db.run_statement(f"SELECT COALESCE(MAX(id), 0) AS id FROM {table}")[0]["id"])


def _run(db: Database, start: datetime, end: datetime, host: str) -> int:
    left = {"pending": 0, "in_progress": 0, "waiting": 0}
    row = {
        "host": host, "machine_id": "", "boot_id": "", "pid_namespace": 0, "pid": 1,
        "pid_started": 1, "first_slot": 0, "workers": WORKERS, "total": WORKERS,
        "started_at": start, "heartbeat_at": end, "ended_at": end,
        "summary": json.dumps({"done": 1, "left": left}),
    }  # fmt: skip
    insert(db, "runs", [row])
    return last_id(db, "runs")


def _workers(db: Database, night: InventedNight) -> None:
    """One worker for each slot; slot 3 is replaced twice."""
    lives = [(slot, night.start, night.end, "drained") for slot in range(WORKERS)]
    third = night.start + timedelta(hours=3)
    sixth = night.start + timedelta(hours=6)
    lives[3:4] = [
        (3, night.start, third, "memory 1.5 GB"),
        (3, third, sixth, "memory 1.5 GB"),
        (3, sixth, night.end, "drained"),
    ]
    rows = [
        {"run_id": night.run_id, "slot": slot, "pid": 1, "pid_started": 1, "started_at": began,
         "ended_at": ended, "ending": ending}
        for slot, began, ended, ending in lives
    ]  # fmt: skip
    insert(db, "workers", rows)


def _incarnation(db: Database, night: InventedNight, slot: int) -> int:
    return int(
        db.run_statement(
            f"SELECT MIN(id) AS id FROM workers WHERE run_id = {night.run_id} AND slot = {slot}"
        )[0]["id"]
    )


def _job(at: datetime, place: int, **more: Any) -> dict[str, Any]:
    task = TASKS[place % 3]
    return {
        "payload": "{}", "task": task, "status": "done", "attempts": 1, "fence": 1,
        "incarnation": None, "worker_id": place % WORKERS, "created_at": at - timedelta(hours=1),
        "started_at": at - timedelta(seconds=2 + place % 7), "finished_at": at,
        "result": json.dumps({"title": f"a page's title, number {place}"}), "fingerprint": None,
        "last_error": None,
    } | more  # fmt: skip


def _done(db: Database, night: InventedNight, jobs: int) -> None:
    slots = [_incarnation(db, night, slot) for slot in range(WORKERS)]
    step = (night.end - night.start) / jobs
    rows = []
    for place in range(jobs):
        at = night.start + place * step
        more: dict[str, Any] = {"incarnation": slots[place % WORKERS], "created_at": night.start}
        # In the last hours extract finds nothing any more.
        if TASKS[place % 3] == "extract" and at > night.end - timedelta(hours=2):
            more["result"] = '{"title": null, "items": []}'
        if place % 50 == 0:
            more |= {"attempts": 2, "fence": 2}
            night.recovered += 1
        rows.append(_job(at, place, **more))
    # One that came before the night began, and one that took long.
    rows[1]["started_at"] = rows[1]["finished_at"] - timedelta(seconds=333)
    insert(db, "work_queue", rows)
    night.done = jobs


def _earlier_night(db: Database, night: InventedNight, back: timedelta, jobs: int) -> None:
    start, end = night.start - back, night.end - back
    _run(db, start, end, "night-1")
    step = (end - start) / jobs
    insert(db, "work_queue", [_job(start + place * step, place) for place in range(jobs)])


def _kinds(night: InventedNight) -> Iterator[tuple[str, str, str, int, timedelta, bool]]:
    yield "3f9a1c2e00000000", "price", "Locator.inner_text: Timeout TIME exceeded", 60, timedelta(hours=5), True  # fmt: skip  # noqa: E501
    yield "b81e07d400000000", "visit", "HTTP 503 from portal.example.org", 30, timedelta(hours=7), False  # fmt: skip  # noqa: E501
    yield "5c20aa9100000000", "extract", "Fail: password has expired", 9, timedelta(hours=4), False


def _failures(db: Database, night: InventedNight, errors_dir: Path) -> None:
    sites = {"price": "shop.example.com", "visit": "portal.example.org", "extract": "b.example.net"}
    slot = _incarnation(db, night, 2)
    for key, task, label, jobs, after, is_new in _kinds(night):
        first = night.start + after
        rows = [
            _job(first + timedelta(minutes=place), 2, task=task, status="error", result=None,
                 payload=json.dumps({"url": f"https://{sites[task]}/p"}), fingerprint=key,
                 incarnation=slot, last_error=label, created_at=night.start)
            for place in range(jobs)
        ]  # fmt: skip
        insert(db, "work_queue", rows)
        last = last_id(db, "work_queue")
        evidence = f"{last}/1"
        (errors_dir / evidence).mkdir(parents=True)
        (errors_dir / evidence / "screenshot.png").write_bytes(png())
        ended = first + timedelta(minutes=jobs - 1)
        insert(db, "job_attempts", [
            {"job_id": last - jobs + 1 + place, "fence": 1, "attempt": 1, "outcome": "error",
             "reason": label, "fingerprint": key, "incarnation": slot, "worker_id": 2,
             "started_at": row["started_at"], "finished_at": row["finished_at"],
             "evidence": evidence, "evidence_dir": str(errors_dir), "has_ended_job": True}
            for place, row in enumerate(rows)
        ])  # fmt: skip
        seen = first if is_new else night.start - timedelta(days=2)
        insert(db, "failure_groups", [
            {"fingerprint": key, "task": task, "label": label, "first_seen": seen,
             "last_seen": ended, "failures": jobs, "sample_job": last, "sample_attempt": 1}
        ])  # fmt: skip
        night.groups[key] = jobs
        night.failed += jobs


def _mishaps(db: Database, night: InventedNight) -> None:
    def lasting(
        kind: str, name: str, after: float, minutes: float, **detail: Any
    ) -> dict[str, Any]:
        began = night.start + timedelta(hours=after)
        return {
            "kind": kind, "name": name, "began_at": began,
            "ended_at": began + timedelta(minutes=minutes), "detail": json.dumps(detail),
        }  # fmt: skip

    insert(db, "events", [
        lasting("pause", "", 2.25, 6, by="mara", reason="proxy list replaced"),
        lasting("outage", "night-1", 5.7, 44 / 60),
        lasting("breaker", "site:portal.example.org", 7.5, 31, reason="503"),
    ])  # fmt: skip
