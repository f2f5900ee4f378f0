"""The dashboard's side of the live wall: it asks for pictures while somebody looks, and reads them.

Pictures are those of this machine's workers whose state folder is ours; of the others the page says
where to look. Nobody looks any more: then they are removed, also when their pool was killed.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from worker.dashboard.workers_now import WorkerNow
from worker.system import live_wall
from worker.system.identity import this_host
from worker.system.live_wall import Picture

TIDY_SECONDS = live_wall.WISH_SECONDS + 2.0

logger = logging.getLogger("nightshift.dashboard")


@dataclass(frozen=True, slots=True)
class Pane:
    """One worker on the wall: its picture, or why there is none."""

    worker: WorkerNow
    picture: Picture | None = None
    why: str = ""

    @property
    def version(self) -> int:
        """Tell one picture from the next, in its address."""
        return int(self.picture.taken_at * 1000) if self.picture is not None else 0


class Wall:
    """The wall of one dashboard."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        self._problem = ""

    def ask(self) -> None:
        """Let the workers of this machine know that somebody looks."""
        with self._lock:
            try:
                live_wall.ask(self.folder)
            except OSError as error:
                self._problem = f"{error.strerror or error}: {self.folder}"
                logger.warning("no live pictures: %s", self._problem)
                return
            self._problem = ""
            if self._timer is None:
                self._tidy_later()

    def panes(self, workers: Iterable[WorkerNow]) -> list[Pane]:
        """Give every worker with its picture."""
        return [self._pane(worker) for worker in workers]

    def picture(self, incarnation: int) -> Picture | None:
        """Read one worker's picture, while somebody looks."""
        return live_wall.read(self.folder, incarnation)

    def close(self) -> None:
        """Leave nothing behind."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
                live_wall.stop_asking(self.folder)

    def _pane(self, worker: WorkerNow) -> Pane:
        if worker.has_finished:
            return Pane(worker, why="It has finished: there is no page.")
        if worker.is_dead or worker.ending:
            return Pane(worker, why="It is dead: there is no page.")
        if worker.host != this_host().name:
            return Pane(worker, why=f"Its pictures stay on {worker.host}: open a dashboard there.")
        if self._problem:
            return Pane(worker, why=f"No pictures: {self._problem}")
        found = self.picture(worker.incarnation)
        if found is None:
            waits = "Its page is shown in a moment." if worker.job_id else "It has no page open."
            return Pane(worker, why=waits)
        if not found.image:
            return Pane(worker, why=f"Job {found.job_id:,}: {found.why}.")
        return Pane(worker, found)

    def _tidy_later(self) -> None:
        self._timer = threading.Timer(TIDY_SECONDS, self._tidy)
        self._timer.daemon = True
        self._timer.start()

    def _tidy(self) -> None:
        with self._lock:
            self._timer = None
            if live_wall.is_asked(self.folder):
                self._tidy_later()
            else:
                live_wall.stop_asking(self.folder)
