"""House-keeping: proxies, profiles that are set aside, webhooks, disk."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from worker.database.client import Database, Row
from worker.profiles import store as profiles
from worker.proxies import store as proxies
from worker.reporting import figures
from worker.reporting.night.model import HouseItem
from worker.reporting.night.window import Window
from worker.reporting.night.words import clean, counted, size
from worker.scheduling import schedules
from worker.scheduling.firing import ON_TIME
from worker.webhooks import outbox

# A folder of evidence may hold a million attempts: the report does not wait for all of them.
LOOK_SECONDS = 2.0
LITTLE_ROOM_BYTES = 2_000_000_000
LITTLE_ROOM_SHARE = 0.05
SHOWN_NAMES = 3
LONGEST_REASON = 80


@dataclass(frozen=True, slots=True)
class Room:
    """What a folder holds, or at least holds, and what its disk has left."""

    used: int
    is_lower_bound: bool
    free: int | None
    total: int | None


def keep(db: Database, window: Window, errors_dir: Path) -> list[HouseItem]:
    """Look at everything; what is not used is not told of."""
    return [
        *_proxies(db, window),
        *_profiles(db),
        *_schedules(db, window),
        *_webhooks(db, window),
        _disk(errors_dir),
    ]


def room(folder: Path, seconds: float = LOOK_SECONDS) -> Room:
    """Measure a folder for at most `seconds`; links are not followed."""
    deadline = time.monotonic() + seconds
    used, is_cut, stack = 0, False, [folder]
    while stack and not is_cut:
        try:
            with os.scandir(stack.pop()) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        stack.append(Path(entry.path))
                    else:
                        # Many failures may share one good page.
                        stat = entry.stat(follow_symlinks=False)
                        used += stat.st_size // max(1, stat.st_nlink)
        except OSError:
            # It is pruned at this moment, or nobody may look: what is left is told.
            continue
        is_cut = time.monotonic() > deadline
    try:
        disk = shutil.disk_usage(folder)
    except OSError:
        return Room(used, is_cut and bool(stack), None, None)
    return Room(used, is_cut and bool(stack), disk.free, disk.total)


def _proxies(db: Database, window: Window) -> Iterator[HouseItem]:
    if not (rows := proxies.all_proxies(db)):
        return
    off = [str(row["name"]) for row in rows if not row["is_enabled"]]
    cooling = sum(1 for row in rows if row["is_enabled"] and row["cooling_seconds"] > 0)
    text = f"{len(rows) - len(off):,} of {len(rows):,} in use"
    text += f", {cooling:,} cooling down" if cooling else ""
    text += _refused(db, window)
    text += f"; disabled: {_named(off)}" if off else ""
    yield HouseItem("Proxies", "look" if off or cooling == len(rows) else "ok", text)


def _refused(db: Database, window: Window) -> str:
    """Say which share of the night's attempts a site refused through them."""
    row = db.fetch_all("refused_through_proxies", start=window.start, end=window.end)[0]
    ended = figures.totals(db, window.start, window.end)
    tried = ended.attempts() - ended.handed_back
    if not (refused := int(row["attempts"])) or tried <= 0:
        return ""
    share = f" ({100 * refused / tried:.1f} % of all)" if refused <= tried else ""
    return f", {counted(refused, 'attempt')} refused through them{share}"


def _profiles(db: Database) -> Iterator[HouseItem]:
    if not (rows := profiles.all_profiles(db)):
        return
    aside = [row for row in rows if row["state"] in ("review_required", "quarantined", "disabled")]
    if not aside:
        yield HouseItem("Profiles", "ok", f"{counted(len(rows), 'profile')}, none set aside")
        return
    named = [f"{clean(row['id'], 60)} ({_why_aside(row)})" for row in aside[:SHOWN_NAMES]]
    more = f" and {len(aside) - SHOWN_NAMES:,} more" if len(aside) > SHOWN_NAMES else ""
    text = f"{len(aside):,} of {len(rows):,} set aside: {', '.join(named)}{more}"
    yield HouseItem("Profiles", "held", text)


def _why_aside(row: Row) -> str:
    state = str(row["state"]).replace("_", " ")
    why = clean(row["state_reason"] or "", LONGEST_REASON)
    return f"{state}: {why}" if why else state


def _schedules(db: Database, window: Window) -> Iterator[HouseItem]:
    """Say which schedule comes next, which rest, and which nobody has seen in time."""
    if not (rows := schedules.everything(db)):
        return
    awake = sorted((row for row in rows if not row["is_paused"]), key=lambda row: row["next_at"])
    overdue = [row["name"] for row in awake if row["now"] - row["next_at"] > ON_TIME]
    resting = [row["name"] for row in rows if row["is_paused"]]
    text = counted(len(rows), "schedule")
    if awake:
        at = f"{window.local(awake[0]['next_at']):%a %d %b %H:%M}"
        text += f", next {_named([awake[0]['name']])} at {at}"
    text += f"; paused: {_named(resting)}" if resting else ""
    if overdue:
        text += f"; due and not seen: {_named(overdue)}; start a run, or: launcher.py tick"
    yield HouseItem("Schedules", "look" if overdue else "held" if resting else "ok", text)


def _webhooks(db: Database, window: Window) -> Iterator[HouseItem]:
    found = outbox.counts(db)
    waiting, given_up = found["waiting"], found["given_up"]
    arrived = outbox.delivered_between(db, window.start, window.end)
    if not (waiting or given_up or arrived):
        return
    # Older ones are forgotten: of a night so long ago nobody knows all of them.
    is_known = window.now - window.start < timedelta(seconds=outbox.KEPT_SECONDS)
    text = f"{arrived:,} delivered, {waiting:,} due" if is_known else f"{waiting:,} due"
    text += f", {given_up:,} given up" if given_up else ""
    yield HouseItem("Webhooks", "look" if given_up else "ok", text)


def _disk(errors_dir: Path) -> HouseItem:
    found = room(errors_dir)
    text = f"{errors_dir.name}/ {'at least ' * found.is_lower_bound}{size(found.used)}"
    if found.free is None or not found.total:
        return HouseItem("Disk", "ok", text)
    is_full = found.free < LITTLE_ROOM_BYTES or found.free < LITTLE_ROOM_SHARE * found.total
    text += f", {size(found.free)} free"
    text += "; make room: launcher.py prune --older-than 30d" if is_full else ""
    return HouseItem("Disk", "look" if is_full else "ok", text)


def _named(names: list[str]) -> str:
    shown = ", ".join(clean(name, 60) for name in names[:SHOWN_NAMES])
    return shown + (f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else "")
