"""A night in which every text is a stranger's, and none of them means well."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from worker.recovery.live_runs import Life, RunState
from worker.reporting.events import Event, Kind
from worker.reporting.lanes import Column, Lane
from worker.reporting.night.model import (
    BatchEnd,
    Batches,
    Counts,
    Doubt,
    Duty,
    Group,
    GroupTotals,
    Hour,
    HouseItem,
    Interruption,
    Level,
    Measures,
    Night,
    QueueFigures,
    SlowTask,
    Usual,
    Verdict,
)
from worker.reporting.night.window import Window

START = datetime.fromisoformat("2026-01-31T17:00:00")
END = START + timedelta(hours=11, minutes=52)
EVIL = (
    "</title></style></svg><script>alert(1)</script><img src=//evil.test/x onerror=alert(1)>"
    "\"' onload='alert(1) javascript:alert(1) [x](javascript:alert(1)) `rm -rf /` | ``` # _*~ "
    "\x00\x1b[2J\x9b1m\u202e\u200b\r\nnightshift: ok &lt;b&gt; "
)
HUGE = EVIL + "https://example.com/" + "a" * 200_000


def at(hours: float) -> datetime:
    return START + timedelta(hours=hours)


def hostile_night(evil: str = EVIL, picture: bytes | None = None, **changes: Any) -> Night:
    """Put a text wherever a stranger's may stand."""
    run = RunState(118, evil, 1, 0, 2, 2, START, END, END, 0.0, Life.ENDED, {"done": 1})
    window = Window(START, END, END, ZoneInfo("Europe/Berlin"), run, (run,), "launcher.py report")
    life = Event(Kind.WORKER, "0", at(1), at(3), evil, 118, 0, evil, 1)
    columns = [Column(at(hour), 5, hour % 3, 1) for hour in range(11)]
    lanes = [Lane(118, slot, evil, columns, [life]) for slot in range(3)]
    group = Group(
        "3f9a1c2e00000000", evil, evil, (evil, evil), 214, 0, at(5), at(7), 660_811, True, False,
        evil, evil, evil, picture, evil, picture,
    )  # fmt: skip
    values: dict[str, Any] = {
        "window": window,
        "verdict": Verdict(Level.SLEEP, evil, evil),
        "duties": (Duty(evil, evil, evil),) * 3,
        "more_duties": 4,
        "counts": Counts(49_659, 341, 7, 3, 2, 1, 100),
        "measures": Measures(49_659, 341, 1126, 2142, 70.0, 3.9, 14.2, 5, 1, 44, 42_720),
        "usual": Usual(7, Measures(47_970, 190, 980, 2000, 68.0, 3.8, 13.4, 1, 0, 0, 42_240)),
        "hours": tuple(Hour(at(hour), 3900 + hour, hour, (evil,)) for hour in range(12)),
        "interruptions": tuple(
            Interruption(kind, at(2), at(3), evil, 1)
            for kind in ("pause", "outage", "breaker", "restart")
        ),
        "column_seconds": 300.0,
        "lanes": tuple(lanes),
        "groups": (group,),
        "group_totals": GroupTotals(37, 341, 3, 2, 40),
        "other_failures": 127,
        "slowest": (SlowTask(evil, 2140, 11.8, 31.0, 58.8, 673_468),),
        "doubts": (Doubt(evil, "empty", 18, True, 900, 0.001, at(9), evil, 1, evil),),
        "house": (HouseItem("Disk", "ok", evil),),
        "notes": (evil,),
        "queues": (QueueFigures(evil, 40_000, 300, 12), QueueFigures("slow", 9, 41, 0, False)),
        "batches": Batches((BatchEnd(evil, at(9), 7200.0, 498, 2, 1),), 22, 3),
        "follow_ups": 1204,
    }
    return Night(**(values | changes))
