"""*Errors*: failures in groups, each with pictures, a trend and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard import charting, evidence_files, filters
from worker.dashboard.deeds import Done, author, do, reason, said_reason
from worker.dashboard.event_lines import last_run
from worker.dashboard.failed_groups import NIGHTS, Group
from worker.dashboard.group_hints import hint_of
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, services, told_at
from worker.dashboard.triage import triage
from worker.dashboard.wording import counted
from worker.database.client import Row
from worker.errors import UsageError
from worker.history import archive, dead_letters, freed_keys
from worker.history.archive import Label
from worker.history.dead_letters import Scope
from worker.reporting.night.failing import Ended
from worker.reporting.tally import Figures

CANARIES = 10
MOST_GROUPS = 50
RANGES = {"night": "This night", "week": "7 days", "all": "All"}

pages = Blueprint("errors", __name__)


@pages.get("/errors")
def page() -> str:
    """List the groups, the largest first: this night's, or all of them where there are none."""
    known, clock = facts(), services().clock
    told_at(known.at)
    with_muted = request.args.get("muted") == "1"
    listed = [group for group in known.groups if group.is_muted == with_muted]
    chosen = _chosen(listed)
    groups = _told_in(chosen, listed)
    hints = {
        group.key: hint_of(group, known, services().config.errors_dir, clock)
        for group in groups[:MOST_GROUPS]
        if not group.is_muted
    }
    return render_template(
        "errors.html",
        groups=groups[:MOST_GROUPS],
        left_out=len(groups[MOST_GROUPS:]),
        earlier=len(listed) - len(groups),
        jobs=sum(group.told_jobs for group in groups),
        new=sum(group.is_new for group in groups),
        muted=sum(group.is_muted for group in known.groups),
        with_muted=with_muted,
        ranges=RANGES,
        chosen=chosen,
        trend=lambda group: charting.group_trend(group, known, clock),
        pictures={
            sample["id"]
            for group in groups[:MOST_GROUPS]
            for sample in group.samples
            if _has_picture(sample)
        },
        hints=hints,
        triage=triage([(group, hints.get(group.key)) for group in groups[:MOST_GROUPS]]),
        last_run=last_run(known.events, clock),
        canaries=CANARIES,
        nights=NIGHTS,
        until=known.at.isoformat(),
        shares=(_share([known.tonight]), _share(known.hours)),
    )


def _chosen(listed: Sequence[Group]) -> str:
    """Tell which range is meant: the one that is asked for, or this night if anything failed."""
    if asked := filters.choice("range", RANGES, ""):
        return asked
    return "night" if any(group.tonight for group in listed) else "all"


def _told_in(chosen: str, listed: Sequence[Group]) -> list[Group]:
    """Leave groups with failures in a range, with the number of these; the largest first."""
    if chosen == "all":
        return list(listed)
    counted = [
        replace(group, told=group.tonight if chosen == "night" else group.this_week)
        for group in listed
    ]
    return sorted(
        (group for group in counted if group.told), key=lambda group: group.told_jobs, reverse=True
    )


def _has_picture(sample: Row) -> bool:
    """Tell whether there is a picture of a job here: not pruned, not on another machine."""
    return evidence_files.has_file(sample, services().config.errors_dir, "screenshot")


def _share(told: Iterable[Figures | Ended]) -> float | None:
    """Tell which part of the jobs that ended has failed; None when none ended."""
    done = failed = 0.0
    for each in told:
        done, failed = done + each.done, failed + each.failed
    return failed / (done + failed) if done + failed else None


@pages.post("/errors/<group>/retry")
@operators_only
def retry(group: str) -> Response:
    """Put a group's jobs back to pending: some as canaries, or all."""
    limit = CANARIES if request.form.get("how") == "canary" else None
    how = f"the oldest {CANARIES} of " if limit else ""

    def work() -> Done:
        db = database()
        count = dead_letters.retry(db, _scope(group, half_done=False), limit=limit)
        return Done(count, f"{counted(count, 'job')} put back to pending.")

    return do("retry", f"{how}group {group}", work, url_for("errors.page"))


@pages.post("/errors/<group>/discard")
@operators_only
def discard(group: str) -> Response:
    """Move a group's jobs to the archive."""

    def work() -> Done:
        label = Label(author(), f"discarded by {author()}" + (f": {reason()}" if reason() else ""))
        scope = _scope(group)
        keys = freed_keys.find(database(), scope)
        count = dead_letters.discard(database(), scope, label)
        freed = freed_keys.warning(keys, jobs=count)
        return Done(count, f"{counted(count, 'job')} moved to the archive{freed and f'; {freed}'}.")

    return do("discard", f"group {group}", work, url_for("errors.page"))


@pages.post("/errors/<group>/mute")
@operators_only
def mute(group: str) -> Response:
    """Leave a group out of the lists."""

    def work() -> Done:
        dead_letters.mute(database(), _whole(group), by=author(), reason=said_reason())
        return Done(1, f"Group {group} is muted.")

    return do("mute", f"group {group}", work, url_for("errors.page"))


@pages.post("/errors/<group>/unmute")
@operators_only
def unmute(group: str) -> Response:
    """Show a group again."""

    def work() -> Done:
        was_muted = dead_letters.unmute(database(), _whole(group))
        said = "is shown again." if was_muted else "was not muted."
        return Done(int(was_muted), f"Group {group} {said}")

    return do("unmute", f"group {group}", work, url_for("errors.page"))


def _scope(group: str, *, half_done: bool = True) -> Scope:
    """Choose the jobs of a group that the page had counted when it asked.

    What failed since, or while somebody thought about it, is not in the answer.
    """
    try:
        until = datetime.fromisoformat(request.form.get("until", ""))
    except ValueError:
        raise UsageError("the page did not say which jobs it meant; load it again") from None
    until = min(until.replace(tzinfo=None), archive.now(database()))
    return Scope(until, group=_whole(group), half_done=half_done)


def _whole(group: str) -> str:
    """Refuse the beginning of a group's name: a page always knows the whole."""
    if dead_letters.find_group(database(), group)["fingerprint"] != group:
        raise UsageError(f"there is no group {group}")
    return group
