"""*Overview*: do I go back to sleep? Then why it says so, when it is ready, what is held back."""

from __future__ import annotations

import time

from flask import Blueprint, render_template

from worker.dashboard import charting, filters, shut_sites, verdict
from worker.dashboard.event_lines import legend, lines_of
from worker.dashboard.group_hints import hint_of
from worker.dashboard.overview import RANGES, look
from worker.dashboard.services import database, facts, paused, services, told_at

pages = Blueprint("overview", __name__)

MOST_DUTIES = 8
MOST_GROUPS = 5
# Where each kind of thing that waits for a person is looked at; what is not here failed.
_PAGES_OF = {
    "profile": "profiles.page",
    "checkout": "profiles.page",
    "account": "profiles.page",
    "proxy": "limits.page",
    "breaker": "limits.page",
}


@pages.get("/")
def page() -> str:
    """Show how everything stands."""
    clock = services().clock
    wanted = RANGES[filters.choice("range", RANGES, "night")]
    began = time.perf_counter()
    asked = paused()
    answer_ms = (time.perf_counter() - began) * 1000
    now = look(database(), facts(), asked, wanted)
    told_at(now.at)
    errors_dir = services().config.errors_dir
    shown = now.facts.shown_groups[:MOST_GROUPS]
    return render_template(
        "overview.html",
        now=now,
        verdict=verdict.judge(now, clock),
        reasons=verdict.reasons(now, clock, answer_ms),
        pace=charting.pace(now, clock),
        queue=charting.queue(now.counts, now.facts),
        ranges=RANGES.values(),
        shut=shut_sites.told_of(now.facts, clock) if now.alive else "",
        hints={group.key: hint_of(group, now.facts, errors_dir, clock) for group in shown},
        groups=shown,
        legend=legend(now.facts.events, now.since, now.at, clock),
        events=lines_of(now.facts.events, clock, limit=12),
        duties=[
            (item, _PAGES_OF.get(item.kind, "errors.page"))
            for item in now.facts.duties[:MOST_DUTIES]
        ],
        per_worker=now.facts.workers.get(wanted.length, ()),
    )
