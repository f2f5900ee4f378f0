"""*Errors*: failures in groups, each with pictures, a trend and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterable

from flask import Blueprint, render_template, request, url_for
from werkzeug.wrappers import Response

from worker.dashboard import charting, evidence_files
from worker.dashboard.deeds import Done, author, do, reason, said_reason
from worker.dashboard.facts import WEEK
from worker.dashboard.group_hints import hint_of
from worker.dashboard.guards import operators_only
from worker.dashboard.services import database, facts, services, told_at
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
    """List the groups, the largest first."""
    known, clock = facts(), services().clock
    told_at(known.at)
    chosen = request.args.get("range", "all")
    with_muted = request.args.get("muted") == "1"
    since = {"night": known.new_since, "week": known.at - WEEK}.get(chosen)
    groups = [
        group
        for group in known.groups
        if group.is_muted == with_muted and (since is None or group.row["last_seen"] >= since)
    ]
    return render_template(
        "errors.html",
        groups=groups[:MOST_GROUPS],
        left_out=len(groups[MOST_GROUPS:]),
        jobs=sum(group.jobs for group in groups),
        new=sum(group.is_new for group in groups),
        muted=sum(group.is_muted for group in known.groups),
        with_muted=with_muted,
        ranges=RANGES,
        chosen=chosen if chosen in RANGES else "all",
        trend=lambda group: charting.group_trend(group, known, clock),
        pictures={
            sample["id"]
            for group in groups[:MOST_GROUPS]
            for sample in group.samples
            if _has_picture(sample)
        },
        hint_of=lambda group: hint_of(group, known, services().config.errors_dir, clock),
        canaries=CANARIES,
        shares=(_share([known.tonight]), _share(known.hours)),
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
        found = dead_letters.find_group(database(), group)
        dead_letters.mute(database(), found["fingerprint"], by=author(), reason=said_reason())
        return Done(1, f"Group {group} is muted.")

    return do("mute", f"group {group}", work, url_for("errors.page"))


@pages.post("/errors/<group>/unmute")
@operators_only
def unmute(group: str) -> Response:
    """Show a group again."""

    def work() -> Done:
        found = dead_letters.find_group(database(), group)
        was_muted = dead_letters.unmute(database(), found["fingerprint"])
        said = "is shown again." if was_muted else "was not muted."
        return Done(int(was_muted), f"Group {group} {said}")

    return do("unmute", f"group {group}", work, url_for("errors.page"))


def _scope(group: str, *, half_done: bool = True) -> Scope:
    """Choose the jobs of a group that were in error when the page was told, or are now.

    So a job that failed after the question was asked is not in the answer.
    """
    db = database()
    found = dead_letters.find_group(db, group)
    if found["fingerprint"] != group:
        raise UsageError(f"there is no group {group}")
    return Scope(archive.now(db), group=group, half_done=half_done)
