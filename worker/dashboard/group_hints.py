"""What the figures prove about a group of failures: whether a retry is likely to help, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from worker.dashboard import evidence_files
from worker.dashboard.facts import Facts, Group
from worker.dashboard.wording import Clock
from worker.evidence.last_good import LastGood
from worker.reporting.charts.marks import Mark
from worker.reporting.events import Kind


@dataclass(frozen=True, slots=True)
class Hint:
    """A sentence about a group, and what follows from it."""

    mark: Mark
    bold: str
    rest: str
    then: str = ""
    # Whether a retry would only fail again.
    is_hopeless: bool = False


def hint_of(group: Group, known: Facts, errors_dir: Path, clock: Clock) -> Hint | None:
    """Say what is proved; None where nothing is."""
    good = _changed_since(group, errors_dir)
    if good is not None:
        return Hint(
            Mark.LOOK,
            "The page has changed; a retry is likely to fail the same way.",
            f"{good.change(lambda moment: clock.near(moment, known.at))}.",
            f"Mend the task, try it on the pages that failed, then send some ahead: "
            f"launcher.py rehearse --group {group.key} --tasks FILE",
            is_hopeless=True,
        )
    if (closed_at := _answers_since(group, known)) is not None:
        return Hint(
            Mark.DONE,
            "The site answers again; a retry is likely to help.",
            f"Its breaker closed at {clock.near(closed_at, known.at)}, and none has failed so "
            f"since.",
        )
    return None


def _changed_since(group: Group, errors_dir: Path) -> LastGood | None:
    """Find the last good page, if the latest failure lacks what was there."""
    for sample in reversed(group.samples):
        good = evidence_files.last_good_of(sample, errors_dir)
        if good is not None:
            change = good.comparison
            return good if change is not None and change.is_gone else None
    return None


def _answers_since(group: Group, known: Facts) -> datetime | None:
    """Tell when the breaker of a group's site closed, if nothing has failed so since."""
    breakers = [
        event
        for event in known.events
        if group.site and event.kind is Kind.BREAKER and event.name == f"site:{group.site}"
    ]
    ended = breakers[-1].ended_at if breakers else None
    return ended if ended is not None and group.row["last_seen"] <= ended else None
