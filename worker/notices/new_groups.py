"""New groups of failures that people should hear of, and the picture of the worst one.

A group is told once, by whichever run takes it first: the row says so. New means, as everywhere:
not seen before the night in which this run began.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worker.database.client import Database
from worker.evidence.pictures import FAILURE
from worker.history import dead_letters
from worker.reporting import nights
from worker.reporting.night.zone import local_zone
from worker.system.identity import is_this_host

# How many of a group's jobs to look through for one with a picture.
LOOKED_AT = 5
# What mail servers and chat services take.
MAX_PICTURE_BYTES = 5_000_000


@dataclass(frozen=True, slots=True)
class NewGroup:
    """A group of failures, as it is told."""

    fingerprint: str
    task: str
    label: str
    jobs: int


def take(db: Database, run_id: int, least_jobs: int) -> list[NewGroup]:
    """Take the groups to be told now, the largest first; nobody else is given them."""
    new_since = nights.new_since_of_run(db, run_id, local_zone())
    rows = db.fetch_all("untold_groups", new_since=new_since, least_jobs=least_jobs)
    return [
        NewGroup(row["fingerprint"], row["task"], row["label"], int(row["jobs"]))
        for row in rows
        if db.execute("take_group", fingerprint=row["fingerprint"]) == 1
    ]


def give_back(db: Database, groups: list[NewGroup]) -> None:
    """Let groups be told later that could not be told now."""
    for group in groups:
        db.execute("give_group_back", fingerprint=group.fingerprint)


def worst_picture(db: Database, run_id: int, errors_dir: Path) -> Path | None:
    """Find a screenshot of the run's largest group, if it is on this machine."""
    worst = dead_letters.groups_of_run(
        db, run_id, 1, nights.new_since_of_run(db, run_id, local_zone())
    )
    return picture_of(db, worst[0]["group"], errors_dir) if worst else None


def picture_of(db: Database, fingerprint: str, errors_dir: Path) -> Path | None:
    """Find a screenshot of a group's jobs, if one is on this machine."""
    for row in dead_letters.jobs_of_group(db, fingerprint, LOOKED_AT):
        if not row["evidence"] or not is_this_host(row["evidence_host"]):
            continue
        path: Path = Path(row["evidence_dir"] or errors_dir) / row["evidence"] / FAILURE.file_name
        if path.is_file() and 0 < path.stat().st_size <= MAX_PICTURE_BYTES:
            return path
    return None
