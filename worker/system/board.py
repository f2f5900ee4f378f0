"""The status board: shared memory with one entry per worker, read by launcher and heart.

A worker writes its own entry; the heart adds which claim was taken from it. What it wrote outlives
it and explains its death. A snapshot has fields that belong together: it never mixes two jobs.
"""

from __future__ import annotations

import ctypes
import mmap
import time
from enum import IntEnum
from typing import Any, ClassVar

from worker.models import StepKind
from worker.system.allotment import Allotment

# A writer is done within microseconds, unless it was stopped or killed in the middle.
SNAPSHOT_TRIES = 100


class Phase(IntEnum):
    """What a worker is doing."""

    NONE = 0
    BOOTING = 1
    IDLE = 2
    WORKING = 3
    CAPTURING = 4
    SETTLING = 5
    STOPPING = 6
    PAUSED = 7


def _text(field: str) -> Any:
    """A field of bytes, read as text."""
    return property(lambda entry: getattr(entry, field).decode("utf-8", "replace"))


class Entry(ctypes.Structure):
    """One worker's place on the board; times are of the monotonic clock, which all share."""

    _fields_: ClassVar = [
        # Odd while fields are being set. A signal's handler does not write here.
        ("changes", ctypes.c_int64),
        ("incarnation", ctypes.c_int64),
        ("phase", ctypes.c_int64),
        # Any number may be a job's id, so this says whether there is one.
        ("_has_job", ctypes.c_int64),
        ("_job_id", ctypes.c_int64),
        ("fence", ctypes.c_int64),
        ("attempt", ctypes.c_int64),
        ("claimed_at", ctypes.c_double),
        ("deadline", ctypes.c_double),
        ("done", ctypes.c_int64),
        ("failed", ctypes.c_int64),
        ("retried", ctypes.c_int64),
        ("handed_back", ctypes.c_int64),
        ("swept", ctypes.c_int64),
        ("driver_pid", ctypes.c_int64),
        ("driver_started", ctypes.c_int64),
        ("browser_pid", ctypes.c_int64),
        ("browser_started", ctypes.c_int64),
        ("_label", ctypes.c_char * 200),
        ("_step", ctypes.c_char * 120),
        ("_step_kind", ctypes.c_char * 16),
        ("_proxy", ctypes.c_char * 260),
        ("_browser", ctypes.c_char * 300),
        ("_live_view", ctypes.c_char * 500),
        ("_browser_version", ctypes.c_char * 64),
        ("_withdrawn_job", ctypes.c_int64),
        ("_withdrawn_fence", ctypes.c_int64),
    ]

    changes: int
    incarnation: int
    phase: int
    _has_job: int
    _job_id: int
    fence: int
    attempt: int
    claimed_at: float
    deadline: float
    done: int
    failed: int
    retried: int
    handed_back: int
    swept: int
    driver_pid: int
    driver_started: int
    browser_pid: int
    browser_started: int
    _label: bytes
    _step: bytes
    _step_kind: bytes
    _proxy: bytes
    _browser: bytes
    _live_view: bytes
    _browser_version: bytes
    _withdrawn_job: int
    _withdrawn_fence: int

    def clear(self) -> None:
        """Make the place ready for a new incarnation."""
        ctypes.memset(ctypes.addressof(self), 0, ctypes.sizeof(self))

    def begin_job(self, job_id: int, fence: int, attempt: int, label: str, seconds: float) -> None:
        """Show a claimed job; that there is one comes last, because readers look for that."""
        now = time.monotonic()
        shown = _cut(label, 200)
        self.changes |= 1
        self.claimed_at, self.deadline = now, now + seconds
        self._label, self._step, self._step_kind, self._proxy = shown, b"", b"", b""
        self.fence, self.attempt = fence, attempt
        self.phase = Phase.WORKING
        self._job_id = job_id
        self._has_job = 1
        self.changes += 1

    def describe_job(self, label: str, seconds: float) -> None:
        """Say more of the job that has begun, once its payload and its task are known."""
        shown = _cut(label, 200)
        self.changes |= 1
        self._label = shown
        self.deadline = self.claimed_at + seconds
        self.changes += 1

    def allow(self, seconds: float) -> None:
        """Give the job `seconds` from now on."""
        self.changes |= 1
        self.deadline = time.monotonic() + seconds
        self.changes += 1

    def show_step(self, text: str, kind: StepKind) -> None:
        """Show the last step that the job's task has named, and how it is to be read."""
        shown, shown_kind = _cut(text, 120), kind.value.encode()
        self.changes |= 1
        self._step, self._step_kind = shown, shown_kind
        self.changes += 1

    def show_proxy(self, name: str | None) -> None:
        """Show which proxy the job's pages go through, if there is one."""
        if name is not None:
            shown = _cut(name, 260)
            self.changes |= 1
            self._proxy = shown
            self.changes += 1

    def show_browser(self, version: str, name: str = "", live_view: str = "") -> None:
        """Show the browser's version; of one elsewhere also its name and where to watch it."""
        shown, shown_view, shown_version = _cut(name, 300), _cut(live_view, 500), _cut(version, 64)
        self.changes |= 1
        self._browser, self._live_view = shown, shown_view
        self._browser_version = shown_version
        self.changes += 1

    def end_job(self) -> None:
        """Show that the job is settled; that there is one goes first."""
        self.changes |= 1
        self._has_job = 0
        self.phase = Phase.IDLE
        self.deadline = 0.0
        self.changes += 1

    def withdraw(self, job_id: int, fence: int) -> None:
        """Show that the worker's claim on a job is void; no claim has the fence 0."""
        self._withdrawn_fence = 0
        self._withdrawn_job = job_id
        self._withdrawn_fence = fence

    @property
    def is_withdrawn(self) -> bool:
        """Whether the worker's claim on the job that it has is void."""
        shown = (self._withdrawn_job, self._withdrawn_fence)
        return bool(self._has_job) and shown == (self._job_id, self.fence)

    def snapshot(self) -> Entry:
        """Copy the entry as it stood at one moment; `is_torn` when its writer never let us."""
        for _ in range(SNAPSHOT_TRIES):
            before = self.changes
            copy = Entry.from_buffer_copy(self)
            if not copy.is_torn and before == copy.changes == self.changes:
                return copy
        copy.changes |= 1
        return copy

    @property
    def is_torn(self) -> bool:
        """Whether its writer was in the middle of a change."""
        return self.changes % 2 == 1

    @property
    def job_id(self) -> int | None:
        """The job that the worker has; None when it has none."""
        return self._job_id if self._has_job else None

    label, step = _text("_label"), _text("_step")
    browser, live_view = _text("_browser"), _text("_live_view")

    @property
    def proxy(self) -> str | None:
        return self._proxy.decode("utf-8", "replace") or None

    @property
    def browser_version(self) -> str | None:
        return self._browser_version.decode("utf-8", "replace") or None

    @property
    def step_kind(self) -> StepKind:
        return StepKind(self._step_kind.decode() or StepKind.GUESSED)


class Header(ctypes.Structure):
    """What concerns all: the heart's news of the database, and until when to claim."""

    _fields_: ClassVar = [
        ("renewed_at", ctypes.c_double),
        ("database_away_since", ctypes.c_double),
        ("counted_at", ctypes.c_double),
        ("pending", ctypes.c_int64),
        ("in_progress", ctypes.c_int64),
        ("waiting", ctypes.c_int64),
        ("done", ctypes.c_int64),
        ("swept", ctypes.c_int64),
        ("retried", ctypes.c_int64),
        ("failed", ctypes.c_int64),
        ("handed_back", ctypes.c_int64),
        ("is_paused", ctypes.c_int64),
        ("claim_until", ctypes.c_double),
        ("is_time_up", ctypes.c_int64),
        ("has_due_events", ctypes.c_int64),
        ("held_back", ctypes.c_int64),
        ("_held_because", ctypes.c_char * 200),
        ("promoted", ctypes.c_int64),
        # Whether jobs were met that are not this run's to do.
        ("has_strangers", ctypes.c_int64),
        ("told", ctypes.c_int64),
        ("still_since", ctypes.c_double),
        # Until then somebody looks at the workers' pages.
        ("watched_until", ctypes.c_double),
    ]

    renewed_at: float
    database_away_since: float
    counted_at: float
    pending: int
    in_progress: int
    waiting: int
    done: int
    swept: int
    retried: int
    failed: int
    handed_back: int
    is_paused: int
    claim_until: float
    is_time_up: int
    has_due_events: int
    promoted: int
    has_strangers: int
    # The lookout's own: what people have been told, and since when nothing has finished.
    told: int
    still_since: float
    watched_until: float
    held_back: int
    _held_because: bytes

    @property
    def is_watched(self) -> bool:
        """Whether somebody looks at the workers' pages now."""
        return time.monotonic() < self.watched_until

    @property
    def held_because(self) -> str:
        """Why jobs are held back, in a few words."""
        return self._held_because.decode("utf-8", "replace")

    @held_because.setter
    def held_because(self, text: str) -> None:
        self._held_because = _cut(text, 200)


class Board:
    """The shared block: made before the first fork, inherited by every child."""

    def __init__(self, workers: int, allotment: Allotment | None = None) -> None:
        self.allotment = allotment or Allotment(workers)
        size = ctypes.sizeof(Header) + workers * ctypes.sizeof(Entry)
        self._memory = mmap.mmap(-1, size)
        self.header = Header.from_buffer(self._memory)
        self.entries = [
            Entry.from_buffer(self._memory, ctypes.sizeof(Header) + index * ctypes.sizeof(Entry))
            for index in range(workers)
        ]


def _cut(text: str, size: int) -> bytes:
    """Fit a text into a field, without breaking a character or holding a NUL."""
    data = text.replace("\0", "").encode("utf-8", "replace")[: size - 1]
    return data if text.isascii() else data.decode("utf-8", "ignore").encode()
