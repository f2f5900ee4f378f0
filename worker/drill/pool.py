"""The pool under test: `launcher.py run` as a subprocess, started again as often as it is killed.

It believes a launcher only when that ends by itself and the queue, asked directly, is empty.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Container, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from worker.database.client import Database
from worker.drill.terminal import Terminal
from worker.drill.world import World
from worker.errors import DatabaseUnavailable
from worker.exit_codes import ExitCode
from worker.installation import checkout, launcher
from worker.queue.claims import Queue
from worker.system.process_tree import all_processes, descendants

# Cron looks again and again; a launcher that cannot reach the database has to wait for it.
RESTART_SECONDS = 0.5
STOP_SECONDS = 20.0
LEASE_SECONDS = 15
ELSEWHERE_SECONDS = 5

# Small enough that hangs, lost leases and retries all happen within one drill.
FLAGS = (
    "--tasks=worker.drill.tasks",
    "--max-attempts=50",
    "--job-timeout=5s",
    "--hang-grace=3s",
    "--page-timeout=4s",
    "--retry-delay=200ms",
    f"--lease={LEASE_SECONDS}s",
    "--grace=10s",
    "--recycle-jobs=300",
)


class Pool:
    """One launcher after the other, until the queue is drained.

    With `host` it is one of several: on a host of that name, with a folder of its own.
    """

    def __init__(
        self, scratch: World, workers: int, *, host: str | None = None, flags: Sequence[str] = ()
    ) -> None:
        self._scratch = scratch
        self._workers = workers
        self._host = host
        self._flags = tuple(flags)
        self.state_dir = scratch.state_dir if host is None else scratch.folder / host
        self._launcher: subprocess.Popen[bytes] | None = None
        self._terminal: Terminal | None = None
        self._codes: dict[int, int] = {}
        self._start_at = 0.0
        log = scratch.log if host is None else scratch.log.with_name(f"{host}.log")
        self._log: IO[bytes] = log.open("ab")
        self.starts = 0
        self.is_drained = False

    @property
    def pid(self) -> int | None:
        """The launcher that runs now, if one does."""
        launcher = self._launcher
        return launcher.pid if launcher is not None and launcher.returncode is None else None

    @property
    def has_terminal(self) -> bool:
        """Whether the launcher that runs now was started on a terminal, and it is still open."""
        return self._terminal is not None

    @property
    def broken_down(self) -> list[str]:
        """Name the launchers that ended with an error that nobody had expected."""
        return [
            f"launcher {pid} ended with exit code {code}"
            for pid, code in self._codes.items()
            if code == ExitCode.UNEXPECTED
        ]

    def exit_code(self, pid: int) -> int | None:
        """How a launcher has ended, once `keep_going` has seen it; below zero by a signal."""
        return self._codes.get(pid)

    def close_terminal(self) -> None:
        """Close the launcher's terminal, if it has one."""
        terminal, self._terminal = self._terminal, None
        if terminal is not None:
            terminal.close()

    def keep_going(self) -> None:
        """Start a launcher when there is none and work is left; call this often."""
        if self._launcher is not None and (code := self._launcher.poll()) is not None:
            self._codes[self._launcher.pid] = code
            self._launcher = None
            self.close_terminal()
            self.is_drained = code == 0 and self._is_queue_empty()
            # One that was killed is started anew at once; one that gave up, after a moment.
            self._start_at = time.monotonic() + (0.0 if code < 0 else RESTART_SECONDS)
        if self._launcher is None and not self.is_drained and time.monotonic() >= self._start_at:
            self._start()

    def close(self) -> None:
        """End the launcher politely, then by force."""
        if self._launcher is not None:
            with suppress(ProcessLookupError):
                # A stopped process cannot obey.
                self._launcher.send_signal(signal.SIGCONT)
                self._launcher.send_signal(signal.SIGTERM)
                self._launcher.send_signal(signal.SIGTERM)
            try:
                self._launcher.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self._launcher.kill()
                self._launcher.wait()
            self._launcher = None
        self.close_terminal()
        self._log.close()

    def start_elsewhere(self) -> subprocess.Popen[bytes]:
        """Start one worker as another host would: beside this pool, knowing nothing of it."""
        flags = ("--workers=1", "--if-locked=ignore", f"--max-runtime={ELSEWHERE_SECONDS}s")
        return self._launch(self._scratch.elsewhere_dir, *flags)

    def sweep(self) -> None:
        """Sweep the queue as a cron job of another host would."""
        environment = self._scratch.environment(self._scratch.elsewhere_dir)
        subprocess.run(
            [*launcher(), "sweep"],
            cwd=checkout() or self._scratch.elsewhere_dir,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            timeout=STOP_SECONDS,
            check=False,
        )

    def _start(self) -> None:
        """Start launchers by turns on a terminal, as a terminal's session leader, and on none.

        Only a session leader is sent SIGHUP when its terminal is closed.
        """
        self.starts += 1
        workers, turn = f"--workers={self._workers}", self.starts % 4
        if turn == 0 or self._host is not None:
            self._launcher = self._launch(self.state_dir, workers, *self._flags)
            return
        terminal = Terminal(self._log)
        self._launcher = self._launch(
            self.state_dir, workers, terminal=terminal.slave, leads_session=turn == 2
        )
        terminal.hand_over()
        self._terminal = terminal

    def _launch(
        self,
        state_dir: Path,
        *flags: str,
        terminal: int | None = None,
        leads_session: bool = False,
    ) -> subprocess.Popen[bytes]:
        # A session leader of its own, with the terminal as its controlling one.
        leader = ("setsid", "--ctty") if leads_session else ()
        output = self._log if terminal is None else terminal
        return subprocess.Popen(
            [*leader, *launcher(), "run", *flags, *FLAGS],
            cwd=checkout() or state_dir,
            env=self._scratch.environment(state_dir) | self._own_name,
            stdin=subprocess.DEVNULL if terminal is None else terminal,
            stdout=output,
            stderr=output,
            start_new_session=not leads_session,
        )

    @property
    def _own_name(self) -> dict[str, str]:
        return {} if self._host is None else {"NIGHTSHIFT_HOST": self._host}

    def _is_queue_empty(self) -> bool:
        try:
            with closing(Database(self._scratch.database)) as db:
                left = Queue(db).unfinished()
        except DatabaseUnavailable:
            return False
        return not left["pending"] and not left["in_progress"]


def reap_orphans(spared: Container[int | None]) -> None:
    """Reap what dead launchers have left to us; children that somebody waits for are left alone."""
    here = os.getpid()
    for stat in all_processes():
        if stat.parent == here and stat.state == "Z" and stat.pid not in spared:
            with suppress(ChildProcessError):
                os.waitpid(stat.pid, os.WNOHANG)


def strangers(known: set[int]) -> list[str]:
    """Name every living descendant of the drill that it has not started itself.

    The drill adopts orphans, so whatever outlives a launcher is found here.
    """
    return [f"{stat.pid} {stat.name}" for stat in descendants(os.getpid()) if stat.pid not in known]
