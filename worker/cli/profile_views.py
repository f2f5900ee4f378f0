"""Show profiles, leases and events to people and programs, without logins or tokens."""

from __future__ import annotations

import json
from typing import Any

from worker.browser.providers.endpoint import label, normalise
from worker.cli.face_fields import face_as_json, shown_face
from worker.cli.profile_doors import way_out
from worker.cli.profile_fields import endpoint_label
from worker.cli.wording import duration, moment
from worker.database.client import Row
from worker.evidence.redaction import redact_json
from worker.installation import command_line

HEADER = (
    *("ID", "ACCOUNT", "PROVIDER", "STATE", "SINCE", "HELD BY", "HOST", "PROXY", "REGION", "WHY"),
)
PLACES = ("provider", "host", "folder", "vendor_id", "endpoint", "proxy", "region")
NONE = "–"


def as_json(profile: Row) -> dict[str, Any]:
    """Make a profile's row ready for JSON, without its secrets."""
    found = {**profile, "endpoint": endpoint_label(profile["endpoint"])}
    for name in ("options", "allowed_actions"):
        found[name] = None if profile[name] is None else redact_json(json.loads(profile[name]))
    # By it the vendor's session may be steered.
    found.pop("vendor_session", None)
    return found | {"face": face_as_json(profile)}


def whereabouts(profile: Row, *, reveal: bool) -> dict[str, Any]:
    """Collect what a person needs to open a profile's browser."""
    found = {name: profile[name] for name in ("id", "state", *PLACES)}
    endpoint = profile["endpoint"]
    if (
        endpoint
        and not reveal
        and (shown := label(endpoint)) != (normalise(endpoint) or "").rstrip("/")
    ):
        found["endpoint"] = f"{shown} (to see all of it: --reveal)"
    return found


def lease_as_json(lease: Row) -> dict[str, Any]:
    """Make a lease ready for JSON."""
    flags = {name: bool(lease[name]) for name in ("is_person", "is_exclusive")}
    return {**lease, **flags}


def cells(profile: Row) -> tuple[str, ...]:
    """Make one line of the list."""
    return (
        profile["id"],
        profile["account_id"] or NONE,
        profile["provider"],
        profile["state"],
        moment(profile["state_since"]),
        _held(profile),
        profile["host"] or NONE,
        profile["proxy"] or NONE,
        profile["region"] or NONE,
        "" if profile["state"] in ("available", "leased") else profile["state_reason"] or "",
    )


def _held(profile: Row) -> str:
    if not profile["leases"]:
        return NONE
    overdue = ", OVERDUE" if profile["overdue"] else ""
    return f"{profile['leases']} of {profile['max_active_runs']}{overdue}"


def table(rows: list[tuple[str, ...]]) -> list[str]:
    """Align rows in columns."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def profile_lines(profile: Row) -> list[str]:
    """Write a profile's fields."""
    shown = as_json(profile)
    author = f" by {profile['state_by']}" if profile["state_by"] else ""
    why = f": {profile['state_reason']}" if profile["state_reason"] else ""
    lines = [
        f"profile {profile['id']}: {profile['state']} since "
        f"{moment(profile['state_since'])}{author}{why}",
        f"  account   {profile['account_id'] or NONE}",
        f"  provider  {profile['provider']}",
    ]
    places = [name for name in ("host", "folder", "vendor_id", "endpoint") if shown[name]]
    lines += [f"  {name.replace('_', ' '):<9} {shown[name]}" for name in places]
    if shown["options"]:
        lines.append(f"  options   {json.dumps(shown['options'])}")
    allowed = shown["allowed_actions"]
    return [
        *lines,
        f"  proxy     {way_out(profile)}",
        f"  region    {profile['region'] or NONE}",
        *shown_face(profile),
        f"  runs      {profile['max_active_runs']} at once",
        f"  policy    {profile['release_policy']}",
        f"  allows    {', '.join(allowed) if allowed else 'every task'}",
        f"  fence     {profile['fence']}",
        f"  added     {moment(profile['created_at'])}",
    ]


def lease_line(lease: Row) -> str:
    """Say who holds a profile, what for, and until when."""
    left = float(lease["left_seconds"])
    parts = [f"held by {lease['holder']}, fence {lease['fence']}"]
    parts += [f"job {lease['job_id']}"] if lease["job_id"] is not None else []
    parts += [f"last step {lease['last_step']!r}"] if lease["last_step"] else []
    parts += [f"needs review: {lease['review_reason']}"] if lease["review_reason"] else []
    if left > 0:
        until = f"the lease ends in {duration(left)}"
    elif lease["is_person"]:
        until = (
            f"OVERDUE by {duration(-left)}, and still theirs: "
            f"{command_line('profiles', 'return', lease['profile_id'])}, or "
            f"{command_line('profiles', 'checkout', lease['profile_id'])} "
            f"--extend 1h"
        )
    else:
        until = f"the lease ended {duration(-left)} ago: launcher.py sweep"
    return f"  {', '.join(parts)}; {until}"


def event_line(event: Row) -> str:
    """Say what happened, who did it, and why."""
    old, new = event["from_state"], event["to_state"]
    change = f" {old or NONE} → {new}" if new and new != old else ""
    job = f", job {event['job_id']}" if event["job_id"] is not None else ""
    fence = f", fence {event['fence']}" if event["fence"] else ""
    decision = f" [{event['decision']}]" if event["decision"] else ""
    return (
        f"  {moment(event['at'])} {event['event']}{change}{decision}: {event['reason']} "
        f"({event['author']}{job}{fence})"
    )
