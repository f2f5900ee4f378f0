"""The read-only JSON API: the same data as the pages, for programs with a token."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from flask import Blueprint, Response

from worker.dashboard import evidence_files, filters, job_list
from worker.dashboard.overview import RANGES, look
from worker.dashboard.pages.job import find
from worker.dashboard.pages.jobs import asked_for
from worker.dashboard.queue_facts import BatchNow, QueueNow
from worker.dashboard.services import database, facts, paused, queue_facts, services
from worker.dashboard.verdict import judge
from worker.dashboard.wording import plain
from worker.evidence import masked_job
from worker.evidence.redaction import redact_json
from worker.history import audit
from worker.json_text import parse_stored
from worker.recovery import live_runs
from worker.reporting.histogram import Histogram

VERSION = 1
MOST = 100

pages = Blueprint("api", __name__, url_prefix="/api/v1")


@pages.get("/status")
def status() -> Response:
    """Tell how everything stands: counts, pace, what is held back, the verdict."""
    now = look(database(), facts(), paused(), RANGES["1h"])
    said = judge(now, services().clock)
    return _answer(
        {
            "at": now.at,
            "verdict": {"title": said.title, "text": said.say},
            "jobs": now.counts | {"waiting": now.facts.waiting, "held_back": now.facts.held_jobs},
            "paused": now.paused,
            "per_minute": now.per_minute,
            "to_go": now.to_go,
            "ready_at": now.ready_at,
            "deadline": now.deadline,
            "last_hour": _figures(now.totals),
            "held_back": [item.as_json() for item in now.facts.held],
            "todo": redact_json([asdict(item) for item in now.facts.todo.items]),
            "runs": [run.as_json() for run in (*now.alive, *now.dead)],
        }
    )


@pages.get("/errors")
def errors() -> Response:
    """List the groups of failures, the largest first."""
    names = ("fingerprint", "task", "label", "jobs", "half_done", "first_seen", "last_seen",
             "sample_job", "muted_at")  # fmt: skip
    groups = [
        {name: group.row[name] for name in names} | {"is_new": group.is_new}
        for group in facts().groups
    ]
    return _answer({"at": facts().at, "groups": groups})


@pages.get("/jobs")
def jobs() -> Response:
    """List jobs by the same filters as the page; `next` continues as `after`."""
    wanted = asked_for()
    found = job_list.read(database(), wanted)
    return _answer({"jobs": [_job(row) for row in found.jobs], "next": found.next or None})


@pages.get("/queues")
def queues() -> Response:
    """Tell of the queues, the batches of the last day and the schedules."""
    known = queue_facts()
    return _answer(
        {
            "at": known.at,
            "queues": [_queue(queue) for queue in known.queues],
            "batches": [_batch(each) for each in known.batches],
            "schedules": [_schedule(row) for row in known.schedules],
        }
    )


@pages.get("/jobs/<int:job_id>")
def job(job_id: int) -> Response:
    """Tell of one job and its attempts, as `show --json` does."""
    shown, attempts = masked_job.masked(*find(job_id))
    return _answer({"job": _job(shown), "attempts": [_attempt(row) for row in attempts]})


@pages.get("/runs")
def runs() -> Response:
    """List the latest runs."""
    found = live_runs.newest(database(), MOST, filters.number("before"))
    return _answer({"runs": [run.as_json() for run in found]})


@pages.get("/events")
def events() -> Response:
    """List pauses, outages, breakers, runs and workers' lives of the last while."""
    listed = [
        {
            "kind": event.kind.value, "name": event.name, "began_at": event.began_at,
            "ended_at": event.ended_at, "why": event.why, "run": event.run_id, "slot": event.slot,
        }
        for event in facts().events
    ]  # fmt: skip
    return _answer({"at": facts().at, "events": redact_json(listed)})


@pages.get("/audit")
def deeds() -> Response:
    """List what people did by the dashboard."""
    rows = audit.latest(database(), MOST, filters.number("before"))
    return _answer({"audit": rows})


def _job(row: dict[str, Any]) -> dict[str, Any]:
    parsed = {
        name: parse_stored(row[name]) for name in ("payload", "result") if row.get(name) is not None
    }
    return {**row, **parsed}


def _attempt(row: dict[str, Any]) -> dict[str, Any]:
    good = evidence_files.last_good_of(row, services().config.errors_dir)
    return {**row, "last_good": asdict(good) if good else None}


def _queue(queue: QueueNow) -> dict[str, Any]:
    told = {name: getattr(queue, name) for name in ("name", "ready", "in_progress", "or_more")}
    runs = [run.run_id for run in queue.runs]
    return {**told, "paused": queue.paused, "runs": runs, "concurrent": queue.concurrent}


def _batch(each: BatchNow) -> dict[str, Any]:
    told = {name: each.row[name] for name in ("name", "created_at", "finished_at", "done", "failed",
                                              "cancelled")}  # fmt: skip
    if each.count is None:
        return {**told, "unfinished": 0, "is_whole": True}
    return {**told, **asdict(each.count)}


def _schedule(row: dict[str, Any]) -> dict[str, Any]:
    names = ("name", "cron", "timezone", "if_missed", "task", "queue", "jobs", "next_at",
             "fired_at", "fired", "missed")  # fmt: skip
    told = {name: row[name] for name in names}
    return {**told, "is_paused": bool(row["is_paused"]), "is_batched": bool(row["is_batched"])}


def _figures(told: Any) -> dict[str, Any]:
    durations: Histogram = told.durations
    return {
        "done": told.done,
        "failed": told.failed,
        "recovered": told.recovered,
        "p50_seconds": durations.percentile(0.5),
        "p95_seconds": durations.percentile(0.95),
    }


def _answer(data: dict[str, Any]) -> Response:
    text = json.dumps({"version": VERSION, **data}, ensure_ascii=False, default=plain)
    return Response(text + "\n", mimetype="application/json")
