"""What the pool has done so far, read off the board and the slots: as a view, a line, a summary."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from worker.supervisor.roster import Roster
from worker.supervisor.slot import Slot, State
from worker.supervisor.view import PoolView, Summary, WorkerSummary, WorkerView
from worker.system.board import Header, Phase


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one run, from its beginning."""

    run_id: int
    header: Header
    slots: Sequence[Slot]
    roster: Roster
    started_at: float = field(default_factory=time.monotonic)

    def view(self, *, is_stopping: bool) -> PoolView:
        """Show the pool as it stands."""
        header, now = self.header, time.monotonic()
        away = header.database_away_since
        return PoolView(
            seconds=now - self.started_at,
            done=self._total("done"),
            failed=self._total("failed"),
            retried=self._total("retried"),
            left=header.pending + header.in_progress if header.counted_at else None,
            waiting=header.waiting,
            is_stopping=is_stopping,
            database_away_seconds=now - away if away else 0.0,
            workers=[_worker_view(slot, now) for slot in self.slots if not self._rests(slot)],
            held_back=header.held_back,
            held_because=header.held_because,
            auto_workers=self.roster.view(),
        )

    def status_line(self) -> str:
        """Say how the pool stands, in a line."""
        view = self.view(is_stopping=False)
        busy = [f"{w.slot}:{w.job_id}({w.age_seconds:.0f}s)" for w in view.workers if w.is_busy]
        left = "?" if view.left is None else view.left
        return (
            f"{view.done} done, {view.failed} failed, {left} left after {view.seconds:.0f} s; "
            f"at work: {' '.join(busy) or 'none'}"
        ) + (f" of {view.auto_workers}" if view.auto_workers else "")

    def _rests(self, slot: Slot) -> bool:
        """Whether a slot has no worker because fewer are wanted now."""
        return self.roster.view() is not None and slot.number is None and not slot.pid

    def summary(self, stopped_by: str | None) -> Summary:
        """Say what the run came to."""
        return Summary(
            run_id=self.run_id,
            seconds=time.monotonic() - self.started_at,
            done=self._total("done"),
            failed=self._total("failed"),
            retried=self._total("retried"),
            swept=self._total("swept"),
            handed_back=self._total("handed_back"),
            crashes=sum(slot.crashes for slot in self.slots),
            stopped_by=stopped_by,
            has_strangers=bool(self.header.has_strangers),
            workers=[_worker_summary(slot) for slot in self.slots if slot.has_worked],
            auto_workers=self.roster.view(),
        )

    def _total(self, name: str) -> int:
        by_heart: int = getattr(self.header, name, 0)
        return by_heart + sum(slot.count(name) for slot in self.slots)


def _worker_view(slot: Slot, now: float) -> WorkerView:
    entry = slot.entry.snapshot()
    waits_for = "waiting for a slot" if slot.number is None else slot.state.name.lower()
    doing = Phase(entry.phase).name.lower() if slot.pid else waits_for
    return WorkerView(
        slot=slot.number,
        doing=doing.replace("_", " "),
        job_id=entry.job_id if slot.pid else None,
        label=entry.label,
        step=entry.step,
        age_seconds=now - entry.claimed_at if entry.job_id is not None else 0.0,
        done=slot.count("done"),
        failed=slot.count("failed"),
    )


def _worker_summary(slot: Slot) -> WorkerSummary:
    return WorkerSummary(
        slot=slot.number if slot.number is not None else slot.last_number,
        done=slot.count("done"),
        failed=slot.count("failed"),
        retried=slot.count("retried"),
        crashes=slot.crashes,
        given_up=slot.last_ending if slot.state is State.GIVEN_UP else None,
    )
