"""What a task sees of its job: who it is, how long it has, and where to put what it finds."""

from __future__ import annotations

import json
import logging
import math
import re
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterable, MutableMapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from worker.errors import Fail
from worker.tasks import named_secrets

MAX_STEPS = 50
MAX_FOLLOW_UPS = 100_000
MAX_RESULT_BYTES = 1_000_000

_NAME = re.compile(r"[\w][\w. ()+@=,-]{0,149}")


class _JobLog(logging.LoggerAdapter[logging.Logger]):
    def process(
        self, msg: Any, kwargs: MutableMapping[str, Any]
    ) -> tuple[Any, MutableMapping[str, Any]]:
        return f"job {(self.extra or {})['job']}: {msg}", kwargs


def _plain_row(task: str | Callable[..., Any], payload: Any, **options: Any) -> dict[str, Any]:
    """What is kept of an added job where there is no queue to add it to, as in a test."""
    return {"task": task, "payload": payload, **options}


@dataclass(slots=True)
class Job:
    """The third argument of every task."""

    id: int
    attempt: int
    max_attempts: int
    task: str
    deadline: float
    results_dir: Path
    profile_id: str | None = None
    account_id: str | None = None
    timeout_seconds: float | None = None
    # Grows with every lease of the profile: what another system is told to refuse older ones by.
    lease_fence: int | None = None
    last_step: str | None = None
    _on_step: Callable[[str], None] = field(default=lambda text: None, repr=False)
    _on_irreversible: Callable[[str], None] = field(default=lambda text: None, repr=False)
    _on_undone: Callable[[str], None] = field(default=lambda text: None, repr=False)
    # Steps from the first job of its chain, if a job has added it.
    depth: int = 0
    _make_row: Callable[..., dict[str, Any]] = field(default=_plain_row, repr=False)
    _follow_ups: list[dict[str, Any]] = field(default_factory=list, repr=False)
    _rows: list[Any] = field(default_factory=list, repr=False)
    # What the rows so far come to as JSON, about.
    _row_bytes: int = field(default=0, repr=False)
    # How long built-in tasks may wait for what they look for: nothing more comes in a rehearsal.
    _patience: float = field(default=math.inf, repr=False)
    _on_review: Callable[[str], None] = field(default=lambda text: None, repr=False)
    _steps: deque[dict[str, str]] = field(
        default_factory=lambda: deque(maxlen=MAX_STEPS), repr=False
    )

    def step(self, text: str, *, irreversible: bool = False, undone: bool = False) -> None:
        """Name the last safe point reached; it is shown live and kept with the attempt.

        An irreversible step names what is done next and cannot be taken back, such as an order. It
        is in the database when this returns. If it cannot be written there, this raises, and the
        task must not go on. A job that breaks off before its next ordinary step is never tried
        again by itself: it is an error that may be half done. The ordinary step leaves it behind as
        taken: this attempt may take one of that name again, a later one may not.

        `undone` says with an ordinary step that nothing came of the irreversible one before it,
        such as an order whose card was declined: it may be taken again.

        Raises ValueError for what is no text, or a blank one: of a step, its name is all there is.
        """
        if irreversible and undone:
            raise ValueError(f"job.step({text!r}): a step is irreversible or undone, not both")
        if not isinstance(text, str) or not text.strip():
            raise ValueError(
                f"job.step({text!r:.80}): name the step with a text, such as "
                f'"logged in", or "submitting order" before an irreversible one'
            )
        if irreversible:
            self._on_irreversible(text)
        self.last_step = text
        at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        self._steps.append({"at": at, "text": text})
        if not irreversible:
            (self._on_undone if undone else self._on_step)(text)

    def enqueue(self, task: str | Callable[..., Any], payload: Any, **options: Any) -> None:
        """Add a job when this one is done: in the same transaction, so never twice.

        If this job fails, nothing is added. `options` are those of `enqueue` (`dedupe_key`,
        `priority`, `not_before`, …) but `batch`, `connection` and `traceparent`. The batch is this
        job's; queue and priority are, and `depth` is one more than its own, unless they are given.
        Raises what `enqueue` raises for what cannot be meant.
        """
        self.enqueue_many([payload], task=task, **options)

    def enqueue_many(
        self,
        payloads: Iterable[Any],
        *,
        task: str | Callable[..., Any] | None = None,
        dedupe_key: str | Callable[[Any], str] | None = None,
        **options: Any,
    ) -> None:
        """Add many jobs when this one is done; of this job's own task unless one is named.

        `dedupe_key` may be a function of the payload.
        """
        for payload in payloads:
            key = dedupe_key(payload) if callable(dedupe_key) else dedupe_key
            row = self._make_row(task or self.task, payload, dedupe_key=key, **options)
            self._follow_ups.append(row)
            if len(self._follow_ups) > MAX_FOLLOW_UPS:
                raise Fail(f"the task adds more than {MAX_FOLLOW_UPS:,} jobs at once; add fewer")

    def push(self, row: Any) -> None:
        """Keep one row of the result; `export --rows` writes a line for each.

        Raises Fail for the row with which the result is too large to be stored.
        """
        with suppress(TypeError, ValueError, RecursionError):
            # What is no JSON is told of with the whole result.
            self._row_bytes += len(json.dumps(row)) + len(", ")
        if self._row_bytes > MAX_RESULT_BYTES:
            raise Fail(
                f"job.push: with row {len(self._rows) + 1:,} the result is over "
                f"{MAX_RESULT_BYTES / 1e6:g} MB, which is the most; keep rows in a file "
                f"(job.path_for), or add a job for each part (job.enqueue)"
            )
        # A copy, so that a task may fill the same dict again for the next one.
        self._rows.append(row.copy() if isinstance(row, dict | list) else row)

    def secret(self, name: str) -> str:
        """Read a secret by its name, from NIGHTSHIFT_SECRETS_DIR or the environment.

        It is masked in logs, evidence, the database and the result. Raises Fail without one.
        """
        return named_secrets.read(name)

    def needs_review(self, reason: str) -> None:
        """Ask for a person to look at the job's profile, such as after a security prompt."""
        self._on_review(reason)

    def attach(self, name: str, content: bytes | str | Path) -> str:
        """Keep a file with the job, under `results/<job>/`; return its path within `results/`.

        `content` is the bytes themselves, a text, or the path of a file to copy.
        """
        path = self.path_for(name)
        if isinstance(content, Path):
            shutil.copyfile(content, path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path.relative_to(self.results_dir))

    def path_for(self, name: str) -> Path:
        """Say where an attachment of that name goes, for libraries that write files themselves."""
        if not _NAME.fullmatch(name) or name.startswith("."):
            raise Fail(
                f"an attachment cannot be named {name!r}; use letters, digits, . _ - and no slash"
            )
        folder = self.results_dir / str(self.id)
        folder.mkdir(parents=True, exist_ok=True)
        return folder / name

    @property
    def log(self) -> logging.LoggerAdapter[logging.Logger]:
        """A logger whose lines name the job."""
        return _JobLog(logging.getLogger("nightshift.job"), {"job": self.id})

    @property
    def seconds_left(self) -> float:
        """How long the task may still run before its browser is taken away."""
        return max(0.0, self.deadline - time.monotonic())


def steps_of(job: Job) -> tuple[dict[str, str], ...]:
    """The latest steps that a task has named, with the time of this machine: for evidence."""
    return tuple(job._steps)  # noqa: SLF001 - what a task sees of its job is fixed.


def patience_of(job: Job) -> float:
    """How long, in seconds, is worth waiting for something on a page of this job."""
    return job._patience  # noqa: SLF001


def follow_ups_of(job: Job | None) -> tuple[dict[str, Any], ...]:
    """The jobs that a task has asked for, a row each, in the order it did."""
    return () if job is None else tuple(job._follow_ups)  # noqa: SLF001


def result_of(job: Job, returned: Any) -> Any:
    """Put together what a task has pushed and what it has returned.

    Rows alone are a list. With a list they go before it, with a dict they are its `rows`.
    """
    rows = job._rows  # noqa: SLF001
    if not rows:
        return returned
    if returned is None:
        return rows
    if isinstance(returned, list):
        return [*rows, *returned]
    return {**(returned if isinstance(returned, dict) else {"result": returned}), "rows": rows}
