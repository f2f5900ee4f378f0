"""Tell the outside how a run goes: by ping its start and end, by notice only an end that is bad.

A bad end is told once: a run that cron starts every 15 minutes and that ends like the one before is
told again when something else came between, or after half a day. None of it changes the run.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from worker.database.client import Database
from worker.errors import DatabaseUnavailable
from worker.notices import messages, new_groups
from worker.notices.messages import Notice
from worker.settings import RunSettings
from worker.supervisor.loop import TIME_IS_OVER
from worker.supervisor.notice_child import send_in_child
from worker.supervisor.ping import Ping
from worker.supervisor.view import Summary

# How long the end of a run waits for its last message.
MAX_WAIT_SECONDS = 15.0
PICTURE_SECONDS = 3.0
AGAIN_SECONDS = 43_200.0


class Announcer:
    """What one run tells the outside; no notice is sent before `urls` are known."""

    def __init__(self, ping: Ping, state_dir: Path) -> None:
        self._ping = ping
        self._state_dir = state_dir
        self.urls: tuple[str, ...] = ()
        self.settings: RunSettings | None = None
        # Whether it was said already that somebody could not be told.
        self.is_silence_said = False

    def start(self) -> None:
        """Say that the run begins."""
        self._ping.start()

    def end(self, summary: Summary, exit_code: int, lines: Sequence[str]) -> None:
        """Say how the run ended."""
        self._ping.end(exit_code, "\n".join(lines))
        is_out_of_time = summary.stopped_by == TIME_IS_OVER and any((summary.left or {}).values())
        if exit_code or is_out_of_time:
            notice = messages.ended_badly(f"run {summary.run_id}", exit_code, lines)
            self._tell(notice, exit_code, summary.run_id)
        else:
            self._forget()

    def broke_off(self, exit_code: int, reason: str, *, is_ours: bool = False) -> None:
        """Say that the run could not begin or go on; `is_ours` when that is a bug."""
        if is_ours:
            self._ping.fail(reason)
        else:
            self._ping.end(exit_code, reason)
        self._tell(messages.ended_badly("a run", exit_code, [reason]), exit_code, None)

    def _tell(self, notice: Notice, exit_code: int, run_id: int | None) -> None:
        if not self.urls or self._is_known(exit_code):
            return
        settings = self.settings

        def whole() -> Notice:
            if settings is None or run_id is None:
                return notice
            return _with_picture(settings, run_id, notice)

        is_quiet = self.is_silence_said
        if send_in_child(self.urls, whole, MAX_WAIT_SECONDS, is_quiet=is_quiet).is_taken:
            with suppress(OSError):
                self._memory.parent.mkdir(parents=True, exist_ok=True)
                self._memory.write_text(f"{exit_code}\n", encoding="ascii")

    @property
    def _memory(self) -> Path:
        """The file that holds which end was told last; its time is when."""
        key = self.settings.database.key if self.settings else "any"
        return self._state_dir / "run" / f"{key}.told"

    def _is_known(self, exit_code: int) -> bool:
        try:
            told = self._memory.read_text(encoding="ascii").strip()
            age = time.time() - self._memory.stat().st_mtime
        except (OSError, ValueError):
            return False
        return told == str(int(exit_code)) and 0 <= age < AGAIN_SECONDS

    def _forget(self) -> None:
        if self.urls:
            with suppress(OSError):
                self._memory.unlink(missing_ok=True)


def _with_picture(settings: RunSettings, run_id: int, notice: Notice) -> Notice:
    """Attach the picture of the worst failure, if the database tells of one."""
    with (
        suppress(DatabaseUnavailable),
        closing(Database(settings.database, read_timeout_seconds=PICTURE_SECONDS)) as db,
        db.patience(0.0),
    ):
        return replace(notice, picture=new_groups.worst_picture(db, run_id, settings.errors_dir))
    return notice
