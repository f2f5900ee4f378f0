"""The settings of a run, each declared once: its flag, variable, default, check and help.

A field declared with `setting` or `duration` is a flag of `run`: `errors_dir` is `--errors-dir` and
`NIGHTSHIFT_ERRORS_DIR`; `worker/cli/options.py` makes it one. Precedence is flag > environment >
`.env` > `nightshift.toml` > default. Nothing is read at import.
"""

# `setting` and `duration` return fields, as `dataclasses.field` does.
# ruff: noqa: RUF009

from __future__ import annotations

import math
import os
import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError, UsageError
from worker.models import DEFAULT_QUEUE
from worker.project import project_dir
from worker.queue_names import queues_problem
from worker.urls import callback_url_problem, notify_url_problem

# Nightshift's own folder, for its tests and benchmarks; a user's files are in `project_dir()`.
PROJECT_ROOT = Path(__file__).resolve().parent.parent

# Each has a browser of some 200 MB: beyond this, a zero too many was typed.
MOST_WORKERS = 1000
_UNIT_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


@dataclass(frozen=True, slots=True)
class Flag:
    """What the command line needs to know about a setting, and which values are accepted."""

    help: str
    default: Any = None
    least: float | None = None
    most: float | None = None
    above: float | None = None
    unit: str = ""
    problem: Callable[[str], str | None] | None = None
    choices: tuple[str, ...] = ()
    metavar: str | None = None
    # The flag that turns the setting off, where only that is wanted: `--headed` for `headless`.
    off: str | None = None

    def check(self, name: str, value: Any) -> None:
        """Raise UsageError, naming the flag and what to give instead, if the value is wrong."""
        if value is None:
            return
        if self.least is not None and value < self.least:
            wanted = f"give {self.least:g}{self.unit} or more"
            raise UsageError(f"{name} {_number(value)} is too small; {wanted}")
        if self.most is not None and value > self.most:
            wanted = f"give {self.most:g}{self.unit} or less"
            raise UsageError(f"{name} {_number(value)} is too large; {wanted}")
        if self.above is not None and value <= self.above:
            raise UsageError(f"{name} {value:g} is too small; give more than {self.above:g}")
        if self.problem is not None and (problem := self.problem(value)) is not None:
            # The value is not repeated: a URL may hold a password.
            raise UsageError(f"{name}: {problem}")


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:g}"


def parse_duration(text: str) -> float:
    """Read `600`, `90s`, `10m`, `6h` or `30d` as seconds; raise ValueError for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|[smhd]?)\s*", text.lower())
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write 600, 90s, 10m, 6h or 30d")
    seconds = float(match[1]) * _UNIT_SECONDS[match[2]]
    if not math.isfinite(seconds):
        raise ValueError(f"{text[:20]!r}… is longer than anything lasts; write 30d")
    return seconds


def setting(default: Any, help: str, **more: Any) -> Any:
    """Declare a setting; `default` may be a function that finds it when it is wanted."""
    if callable(default):
        return field(default_factory=default, metadata={"flag": Flag(help, default, **more)})
    return field(default=default, metadata={"flag": Flag(help, default, **more)})


def duration(default: str | None, help: str, **more: Any) -> Any:
    """Declare a setting that is a time, its default written as a person would: `10m`."""
    seconds = None if default is None else parse_duration(default)
    return field(default=seconds, metadata={"flag": Flag(help, default, unit=" s", **more)})


def _cores() -> int:
    return os.cpu_count() or 2


def _inside(name: str) -> Callable[[], Path]:
    return lambda: project_dir() / name


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything one run of the pool needs to know. To add a setting, add a field."""

    database: DatabaseSettings
    state_dir: Path = field(default_factory=_inside(".local"))

    workers: int = setting(
        _cores, "Worker processes to start, each with one browser.", least=1, most=MOST_WORKERS
    )
    total: int = setting(
        None, "Slots of all hosts that share the queue.  [default: --workers]", least=1
    )
    offset: int = setting(0, "First slot of this host.", least=0)
    tasks: tuple[str, ...] = setting(
        (), "A file, folder or module with your own tasks; repeatable.", metavar="FILE_OR_MODULE"
    )
    queue: str = setting(
        DEFAULT_QUEUE,
        "The queues to work, separated by commas; jobs of others stay for a run that has them.",
        metavar="NAMES",
        problem=queues_problem,
    )
    unknown_tasks: str = setting(
        "wait",
        "What becomes of jobs whose task is not loaded: wait for a run that knows it, or fail.",
        choices=("wait", "fail"),
    )
    follow: bool = setting(False, "Wait for new jobs instead of ending when none is left.")
    help_others: bool = setting(
        True, "Claim only jobs with id % total = slot, never another slot's.", off="--no-help"
    )
    max_attempts: int = setting(4, "Attempts a job gets before it ends as an error.", least=1)
    max_blocks: int = setting(3, "Times a site may block a job before it is an error.", least=1)
    callback_url: str | None = setting(
        None,
        "Webhook URL for jobs that have none of their own.",
        metavar="URL",
        problem=callback_url_problem,
    )
    breaker_cooldown_seconds: float = duration(
        "30s", "How long to leave a site alone that keeps failing; doubles each time.", above=0
    )
    proxy_cooldown_seconds: float = duration(
        "10m", "How long to leave a proxy alone after a site has blocked it.", above=0
    )
    job_timeout_seconds: float = duration("10m", "Time limit for one attempt.", above=0)
    page_timeout_seconds: float = duration(
        "30s", "Playwright's default timeout for one step on a page.", above=0
    )
    retry_delay_seconds: float = duration("30s", "Wait before the first retry; doubles each time.")
    wait_retries_seconds: float = duration(
        "15m", "Before ending, wait for retries that are due within this time."
    )
    lease_seconds: float = duration(
        "3m", "A claim that is not renewed for this long may be swept.", least=3
    )
    max_runtime_seconds: float | None = duration(
        None, "Stop after this long, and start no job that would probably not finish by then."
    )
    until: str | None = setting(None, "Stop at this local time, in the same way.", metavar="HH:MM")
    hang_grace_seconds: float = duration(
        "40s", "How long a job may overrun its timeout before its worker is killed."
    )
    server_grace_seconds: float = duration(
        "60s", "After a database restart, wait this long before sweeping."
    )
    recycle_jobs: int = setting(500, "Start a new browser after this many jobs.", least=1)
    recycle_mb: int = setting(
        1500, "Start a new browser when the old one uses more memory than this.", least=1
    )
    grace_seconds: float = duration(
        "60s", "Time for running jobs to finish after the first Ctrl-C or SIGTERM."
    )
    if_locked: str = setting(
        "skip",
        "What to do when another run holds the lock.",
        choices=("skip", "wait", "fail", "ignore"),
    )
    fail_over: int | None = setting(None, "Exit with code 10 if more jobs than this fail.", least=0)
    errors_dir: Path = setting(_inside("errors"), "Folder for the evidence of failures.")
    results_dir: Path = setting(_inside("results"), "Folder for the files that tasks keep.")
    report_to: Path | None = setting(
        None,
        "Folder for a report of every run that did something, as HTML and JSON.",
        metavar="DIR",
    )
    trace: str = setting(
        "retries",
        "Which attempts record a trace, kept if they fail: it is masked as all evidence is.",
        choices=("never", "retries", "always"),
    )
    keep_good: str = setting(
        "recent",
        "Keep a recent good page of each task and site, to compare failures with.",
        choices=("never", "recent"),
    )
    browser: str | None = setting(
        None, "The Chromium to use.  [default: the one that is found]", metavar="PATH"
    )
    headless: bool = setting(True, "Show the browser windows.", off="--headed")
    live_pictures: bool = setting(
        True, "Give the dashboard no live pictures of pages.", off="--no-live-pictures"
    )
    deny_private: bool = setting(
        False, "Keep pages from private, loopback and link-local addresses."
    )
    job_disk_mb: int = setting(500, "Megabytes that a job's browser may write to disk.", least=1)
    otel: str | None = setting(
        None,
        "Trace attempts with OpenTelemetry: env, or your function that sets the SDK up.",
        metavar="env|FILE_OR_MODULE:FUNCTION",
    )
    ping_url: str | None = setting(
        None,
        "Tell this Healthchecks URL how the run goes. A secret: better as NIGHTSHIFT_PING_URL.",
        metavar="URL",
        problem=callback_url_problem,
    )
    notify: tuple[str, ...] = setting(
        (),
        "Whom to tell when a run goes wrong: an Apprise URL, env:NAME or file:PATH; repeatable.",
        metavar="URL",
        problem=notify_url_problem,
    )
    notify_stall_seconds: float = duration(
        "15m",
        "Tell --notify when nothing has finished for this long though there is work.",
        above=0,
    )
    notify_group: int = setting(
        10, "Tell --notify of a new failure group when this many jobs are in it.", least=1
    )
    log_format: str = setting("text", "How lines on stderr are written.", choices=("text", "json"))
    quiet: bool = setting(False, "Print nothing unless something went wrong.")

    def __post_init__(self) -> None:
        if self.total is None:
            object.__setattr__(self, "total", self.workers)
        for each in flag_fields():
            each.metadata["flag"].check(flag_name(each), getattr(self, each.name))
        if self.offset + self.workers > self.total:
            last = self.offset + self.workers - 1
            raise UsageError(
                f"--offset {self.offset} with --workers {self.workers} needs slots "
                f"{self.offset}..{last}, but --total {self.total} has only 0..{self.total - 1}; "
                f"raise --total or lower --offset"
            )

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues to work, each once."""
        return tuple(dict.fromkeys(name.strip() for name in self.queue.split(",")))

    @property
    def slots(self) -> range:
        """The slots this run works itself, out of `total`."""
        return range(self.offset, self.offset + self.workers)


def flag_fields() -> list[Field[Any]]:
    """List the settings of a run that are flags, in the order of `--help`."""
    return [each for each in fields(RunSettings) if "flag" in each.metadata]


def flag_name(each: Field[Any]) -> str:
    """Name a setting's flag: `--job-timeout` for `job_timeout_seconds`."""
    off: str | None = each.metadata["flag"].off
    return off or "--" + each.name.removesuffix("_seconds").replace("_", "-")


def variable_name(each: Field[Any]) -> str:
    """Name a setting's variable: `NIGHTSHIFT_JOB_TIMEOUT` for `job_timeout_seconds`."""
    return "NIGHTSHIFT_" + flag_name(each).lstrip("-").replace("-", "_").upper()


def task_sources(environ: Mapping[str, str]) -> list[str]:
    """Read NIGHTSHIFT_TASKS: files, folders and modules between spaces, quoted as in a shell."""
    return split_sources(environ.get("NIGHTSHIFT_TASKS", ""))


def split_sources(text: str) -> list[str]:
    """Take a list apart as a shell would; raises SettingsError if a quote is not closed."""
    try:
        return shlex.split(text)
    except ValueError as error:
        raise SettingsError(f"NIGHTSHIFT_TASKS cannot be read: {error}: {text[:200]}") from error
