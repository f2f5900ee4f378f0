"""A night's report for programs. VERSION grows when a field changes its meaning."""

from __future__ import annotations

import json
from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from worker.evidence.terminal_text import visible_json
from worker.reporting.lanes import Lane
from worker.reporting.night.model import Group, Night
from worker.reporting.night.zone import zone_name

VERSION = 1


def as_json(night: Night) -> str:
    """Write the report."""
    return visible_json(json.dumps(plain(night), indent=2)) + "\n"


def plain(night: Night) -> dict[str, Any]:
    """Give it for programs, with times as `2026-01-31T17:00:00Z` and without pictures."""
    window = night.window
    return {
        "version": VERSION,
        "written_at": _plain(window.now),
        "since": _plain(window.start),
        "until": _plain(window.end),
        "zone": zone_name(window.zone, window.now),
        "run": window.run.run_id if window.run else None,
        "runs": [_plain(_run(run)) for run in window.runs],
        "command": window.command,
        "verdict": {**asdict(night.verdict), "level": night.verdict.level.name.lower()},
        "todo": [asdict(duty) for duty in night.duties],
        "todo_more": night.more_duties,
        "jobs": {"in": night.counts.jobs_in, **asdict(night.counts)}
        | {"carried_over": night.counts.carried_over},
        "figures": asdict(night.measures),
        "usual": {"nights": night.usual.nights, **asdict(night.usual.median)},
        "hours": [_plain(asdict(hour)) for hour in night.hours],
        "interruptions": [_plain(asdict(each)) for each in night.interruptions],
        "workers": [_lane(lane) for lane in night.lanes],
        "groups": [_group(group) for group in night.groups],
        "groups_in_all": asdict(night.group_totals),
        "other_failures": night.other_failures,
        "slowest": [asdict(each) for each in night.slowest],
        "doubts": [_plain(asdict(each)) for each in night.doubts],
        "house": [asdict(item) for item in night.house],
        "notes": list(night.notes),
        "queues": [asdict(queue) for queue in night.queues],
        "batches": _plain(asdict(night.batches)),
        "follow_ups": night.follow_ups,
    }


def _group(group: Group) -> Any:
    told = {each.name: getattr(group, each.name) for each in fields(group)}
    del told["picture"], told["good_picture"]
    return _plain(told)


def _lane(lane: Lane) -> dict[str, Any]:
    return {
        "host": lane.host,
        "slot": lane.slot,
        "done": sum(column.done for column in lane.columns),
        "failed": sum(column.failed for column in lane.columns),
        "again": sum(column.again for column in lane.columns),
        "busy_seconds": round(sum(column.busy_seconds for column in lane.columns), 1),
        "restarts": lane.restarts,
    }


def _run(run: Any) -> dict[str, Any]:
    told: dict[str, Any] = run.as_json()
    return {name: told[name] for name in ("run", "host", "started_at", "over_at", "ending")}


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC).isoformat().replace("+00:00", "Z")
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
