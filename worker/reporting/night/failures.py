"""What failed in a night, in groups: since when, whether it is new, and the command for it.

A hint is given only where the figures prove it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from worker.database.client import Database, Row
from worker.evidence import last_good
from worker.evidence.files import facts_of
from worker.evidence.pictures import FAILURE, LAST_GOOD, Picture
from worker.history.dead_letters import label_of
from worker.installation import command_line
from worker.reporting.events import Event, Kind
from worker.reporting.night.model import Group, GroupTotals
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean, clock, counted
from worker.system.identity import is_this_host

# A night with more kinds of failure has one of another kind: the rest is told by its number.
MOST_GROUPS = 20
MOST_PICTURES = 8
MOST_PICTURE_BYTES = 600_000
MOST_BYTES_OF_ALL = 2_500_000


@dataclass(slots=True)
class Album:
    """Pictures for a report, up to a number and a size."""

    errors_dir: Path
    left: int = MOST_PICTURES
    bytes_left: int = MOST_BYTES_OF_ALL

    def folder(self, row: Row) -> Path | None:
        """Find the evidence of an attempt, if it has any on this machine."""
        if not row["evidence"] or not is_this_host(row["evidence_host"]):
            return None
        return Path(row["evidence_dir"] or self.errors_dir) / str(row["evidence"])

    def take(self, row: Row) -> bytes | None:
        """Read the screenshot of an attempt, if it is on this machine and there is room for it."""
        if not self.left or (folder := self.folder(row)) is None:
            return None
        picture = self._read(folder, FAILURE)
        self.left -= picture is not None
        return picture

    def take_good(self, row: Row) -> bytes | None:
        """Read the picture of the last good page beside it, in the same way."""
        folder = self.folder(row)
        return None if folder is None else self._read(folder, LAST_GOOD)

    def _read(self, folder: Path, kind: Picture) -> bytes | None:
        most = min(MOST_PICTURE_BYTES, self.bytes_left)
        try:
            with (folder / kind.file_name).open("rb") as file:
                picture: bytes = file.read(most + 1)
        except OSError:
            return None
        if len(picture) > most or not picture.startswith(kind.beginning):
            return None
        self.bytes_left -= len(picture)
        return picture


def groups(
    db: Database, window: Window, errors_dir: Path, told: Sequence[Event]
) -> tuple[list[Group], GroupTotals]:
    """List the largest groups, muted ones last, and add all of them up."""
    rows = db.fetch_all(
        "night_groups",
        start=window.start,
        end=window.end,
        new_since=window.new_since,
        limit=MOST_GROUPS,
    )
    album = Album(errors_dir)
    return [_group(row, window, album, told) for row in rows], _totals(rows)


def _totals(rows: Sequence[Row]) -> GroupTotals:
    if not rows:
        return GroupTotals()
    row = rows[0]
    return GroupTotals(
        groups=int(row["groups_of_all"]),
        jobs=int(row["jobs_of_all"]),
        new=int(row["new_of_all"]),
        muted=int(row["muted_of_all"]),
        jobs_muted=int(row["jobs_muted_of_all"]),
    )


def _group(row: Row, window: Window, album: Album, told: Sequence[Event]) -> Group:
    is_muted = row["muted_at"] is not None
    sites = tuple(clean(site, 100) for site in str(row["sites"] or "").split(",") if site)
    hint, is_mended = _hint(row, window, told)
    picture = None if is_muted else album.take(row)
    return Group(
        name=row["fingerprint"],
        label=clean(label_of(row), 255),
        task=clean(str(row["task"]), 64),
        sites=sites,
        jobs=int(row["jobs"]),
        half_done=int(row["half_done"]),
        first=row["first_ended"],
        last=row["last_ended"],
        sample_job=int(row["sample_job"]),
        is_new=bool(row["is_new"]),
        is_muted=is_muted,
        hint=hint,
        command=_command(row, is_mended),
        evidence=None if not row["evidence"] else _place(row, album),
        picture=picture,
        last_good=_last_good(row, window, album),
        good_picture=None if picture is None else album.take_good(row),
    )


def _last_good(row: Row, window: Window, album: Album) -> str:
    """Say when its task and site last went well, and what has changed since."""
    folder = album.folder(row)
    found = last_good.of_facts(facts_of(folder)) if folder is not None else None
    if found is None:
        return ""

    def when(moment: datetime) -> str:
        is_tonight = window.start <= moment <= window.end
        return clock(window, moment) if is_tonight else f"{window.local(moment):%a %d %b %H:%M}"

    headline, change = found.headline(when), found.change(when)
    return clean(f"{headline[:1].upper()}{headline[1:]}." + (f" {change}." if change else ""), 600)


def _hint(row: Row, window: Window, told: Sequence[Event]) -> tuple[str, bool]:
    """Say what is proved about a group, and whether a retry of all of it is likely to help."""
    if row["half_done"]:
        jobs = int(row["half_done"])
        return f"{counted(jobs, 'job')} may be half done: look at the site first.", False
    site = str(row["sites"] or "")
    breakers = [
        event
        for event in told
        if event.kind is Kind.BREAKER and event.name == f"site:{site}" and site
    ]
    if not breakers:
        return "", False
    last = breakers[-1]
    if last.ended_at is None:
        return f"The breaker of {clean(site, 100)} is open: it would be refused again.", False
    if row["last_ended"] <= last.ended_at:
        at = clock(window, last.ended_at)
        return f"{clean(site, 100)} answers again since {at}, when its breaker closed.", True
    return "", False


def _command(row: Row, is_mended: bool) -> str:
    if row["fingerprint"] is None:
        return command_line("retry", "--id", row["sample_job"])
    # The whole name: a shorter one may be another group's too.
    group = ("--group", row["fingerprint"])
    if row["half_done"]:
        # Never one line that does it all again: a person looks at each first.
        return command_line("errors", row["fingerprint"])
    return command_line("retry", *group) + ("" if is_mended else " --limit 10")


def _place(row: Row, album: Album) -> str:
    folder = Path(row["evidence_dir"] or album.errors_dir) / row["evidence"]
    host = row["evidence_host"]
    return clean(str(folder) if is_this_host(host) else f"{folder} on {host}", 500)
