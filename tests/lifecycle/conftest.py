"""The real launcher as a subprocess, with tasks that tests can hold, let go, kill and count.

Whatever a test starts is ended with it, and a process that outlives its launcher fails the test.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from examples.demo_site import serve
from tests import prepared_python
from worker.database_settings import DatabaseSettings
from worker.system.process_tree import ProcessId, all_processes, descendants, is_alive, kill

REPO = Path(__file__).parents[2]
TASKS = Path(__file__).with_name("steerable_tasks.py")
SECONDS_TO_VANISH = 5.0
COMMAND_SECONDS = 60.0


class Launcher:
    """One `launcher.py …` and every process it has started."""

    def __init__(
        self,
        arguments: Sequence[str],
        folder: Path,
        environment: dict[str, str],
        program: Sequence[str] = ("launcher.py",),
        **how: Any,
    ) -> None:
        number = sum(1 for _ in folder.glob("launcher-*.out"))
        self._out = folder / f"launcher-{number}.out"
        self._err = folder / f"launcher-{number}.err"
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self._process = subprocess.Popen(
                [sys.executable, *program, *arguments],
                cwd=REPO,
                env=environment,
                start_new_session=True,
                **{"stdin": subprocess.DEVNULL, "stdout": out, "stderr": err, **how},
            )
        self.pid = self._process.pid
        self._seen: set[ProcessId] = set()

    @property
    def stdout(self) -> str:
        return self._out.read_text(encoding="utf-8")

    @property
    def stderr(self) -> str:
        return self._err.read_text(encoding="utf-8")

    @property
    def output(self) -> str:
        return self.stdout + self.stderr

    @property
    def summary(self) -> dict[str, Any]:
        """What `--json` printed."""
        parsed: dict[str, Any] = json.loads(self.stdout)
        return parsed

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def wait(self, seconds: float = 30.0) -> int:
        """Wait for the launcher's end and return its exit code."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            pytest.fail(f"the launcher still runs after {seconds} s; it said:\n{self.output}")
        assert "Traceback (most recent call last)" not in self.stderr, self.stderr
        return code

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def signal_group(self, number: int) -> None:
        """Signal the launcher's process group, as the terminal does on Ctrl-C."""
        os.killpg(self.pid, number)

    def family(self) -> list[ProcessId]:
        """Everything the launcher has started that lives now."""
        found = [stat.id for stat in descendants(self.pid)]
        self._seen.update(found)
        return found

    def end(self) -> list[ProcessId]:
        """Kill whatever is left; return what had outlived a launcher that ended by itself."""
        had_ended = not self.is_running
        self.family()
        if not had_ended:
            self._process.kill()
        self._process.wait()
        survivors = [process for process in self._seen if is_alive(process)]
        for process in survivors:
            kill(process)
        return survivors if had_ended else []


def processes_of(folder: Path) -> list[ProcessId]:
    """Find the living processes that name a folder in their arguments or their environment."""
    needle = os.fsencode(folder)
    found = []
    for stat in all_processes():
        with suppress(OSError):
            proc = Path(f"/proc/{stat.pid}")
            text = (proc / "cmdline").read_bytes() + (proc / "environ").read_bytes()
            if needle in text and not stat.is_dead and stat.pid != os.getpid():
                found.append(stat.id)
    return found


def wait_until(
    condition: Callable[[], object], what: str, seconds: float = 30.0, every: float = 0.02
) -> None:
    """Poll until something holds; fail with its name when it never does."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(every)


def url_of(settings: DatabaseSettings) -> str:
    return f"mysql://root@localhost/{settings.database}?socket={settings.unix_socket}"


def clean_environment(folder: Path, **changes: str | None) -> dict[str, str]:
    """The environment of a launcher that knows this folder and nothing of this machine's set-up."""
    private = ("DATABASE_URL", "MYSQL_", "NIGHTSHIFT_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(private)}
    if "NIGHTSHIFT_MYSQLD" in os.environ:
        kept["NIGHTSHIFT_MYSQLD"] = os.environ["NIGHTSHIFT_MYSQLD"]
    kept |= {
        "NIGHTSHIFT_STATE_DIR": str(folder / "state"),
        "NIGHTSHIFT_ERRORS_DIR": str(folder / "errors"),
        "NIGHTSHIFT_ENV_FILE": "/dev/null",
        # Many tests want a job that fails at once: one of a task that nobody knows.
        "NIGHTSHIFT_UNKNOWN_TASKS": "fail",
    }
    for name, value in changes.items():
        kept.pop(name, None)
        if value is not None:
            kept[name] = value
    return kept


def run_command(
    folder: Path, *arguments: object, stdin: str | bytes = "", **changes: str | None
) -> subprocess.CompletedProcess[str]:
    """Run `launcher.py …` to its end; a Python traceback is never an answer."""
    done = run_any_command(folder, *arguments, stdin=stdin, **changes)
    assert "Traceback (most recent call last)" not in done.stderr, done.stderr
    return done


def run_any_command(
    folder: Path, *arguments: object, stdin: str | bytes = "", **changes: str | None
) -> subprocess.CompletedProcess[str]:
    """Run one that may show the traceback of somebody's task."""
    words = [str(argument) for argument in arguments]
    environment = clean_environment(folder, **changes)
    given = stdin if isinstance(stdin, bytes) else stdin.encode()
    if prepared_python.can_run(words, environment):
        done = prepared_python.run(words, environment, given, COMMAND_SECONDS)
    else:
        done = subprocess.run(
            [sys.executable, "launcher.py", *words],
            cwd=REPO,
            env=environment,
            input=given,
            capture_output=True,
            timeout=COMMAND_SECONDS,
            check=False,
        )
    stdout, stderr = done.stdout.decode(), done.stderr.decode()
    return subprocess.CompletedProcess(done.args, done.returncode, stdout, stderr)


@pytest.fixture
def launch(settings: DatabaseSettings, tmp_path: Path) -> Iterator[Callable[..., Launcher]]:
    """Start launchers on this test's database; keywords in capitals are environment variables."""
    started: list[Launcher] = []

    def launch(*arguments: object, **changes: Any) -> Launcher:
        variables = {name: changes.pop(name) for name in list(changes) if name.isupper()}
        environment = clean_environment(tmp_path, **{"DATABASE_URL": url_of(settings), **variables})
        launcher = Launcher([str(each) for each in arguments], tmp_path, environment, **changes)
        started.append(launcher)
        return launcher

    yield launch
    survivors = [process for launcher in started for process in launcher.end()]
    deadline = time.monotonic() + SECONDS_TO_VANISH
    while (left := processes_of(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.02)
    for process in left:
        kill(process)
    assert not survivors, f"these outlived their launcher: {survivors}"
    assert not left, f"these outlived the test: {left}"


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    """A file of tasks that tests steer by files beside it: pass it as `--tasks`."""
    return Path(shutil.copy(TASKS, tmp_path / "tasks.py"))


@pytest.fixture
def noted(tmp_path: Path) -> Callable[[str], list[tuple[int, int]]]:
    """Read what tasks have noted: (job, attempt) pairs in the order they came."""

    def read(name: str) -> list[tuple[int, int]]:
        try:
            lines = (tmp_path / name).read_text(encoding="ascii").splitlines()
        except FileNotFoundError:
            return []
        return [(int(job), int(attempt)) for job, attempt in map(str.split, lines)]

    return read


@pytest.fixture
def let_go(tmp_path: Path) -> Callable[..., None]:
    """Let all held jobs finish, or the ones named."""

    def let_go(*job_ids: int) -> None:
        for name in [f"go-{job_id}" for job_id in job_ids] or ["go"]:
            (tmp_path / name).touch()

    return let_go


@pytest.fixture
def errors_dir(tmp_path: Path) -> Path:
    return tmp_path / "errors"


@pytest.fixture(scope="session")
def demo_site() -> Iterator[str]:
    with serve() as base_url:
        yield base_url
