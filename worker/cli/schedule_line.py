"""One schedule in a line, for `schedule list` and `status`."""

from __future__ import annotations

from worker.cli.wording import counted, moment
from worker.database.client import Row


def schedule_line(row: Row) -> str:
    """Describe one schedule in a line."""
    when = "PAUSED" if row["is_paused"] else f"next {moment(row['next_at'])}"
    last = f", last {moment(row['fired_at'])}" if row["fired_at"] else ", not yet"
    missed = f", {row['missed']:,} missed" if row["missed"] else ""
    return (
        f"schedule {row['name']}: {row['cron']} ({row['timezone']}), "
        f"{counted(int(row['jobs']), 'job')} for task {row['task']}: {when}{last}{missed}"
    )
