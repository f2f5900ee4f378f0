"""The settings of a run, each declared once: its flag, variable, default, check and help.

A field declared with `setting` or `duration` is a flag of `run`: `errors_dir` is `--errors-dir` and
`NIGHTSHIFT_ERRORS_DIR`; `worker/cli/options.py` makes it one. Precedence is flag > environment >
`.env` > `nightshift.toml` > default. Nothing is read at import.
"""

# `setting` and `duration` return fields, as `dataclasses.field` does.
# ruff: noqa: RUF009

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any

from worker import block_patterns
from worker.browser_settings import (
    CHANNELS,
    TYPES,
    BrowsersElsewhere,
    arguments_problem,
    context_problem,
    contradiction,
)
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError, UsageError
from worker.flags import duration, setting
from worker.models import DEFAULT_QUEUE
from worker.project import project_dir
from worker.queue_names import queues_problem
from worker.slot_numbers import MOST_WORKERS, SLOT_CHOICES, AutoWorkers, cores, total_of, workers_of
from worker.urls import callback_url_problem, endpoint_problem, notify_url_problem

# Nightshift's own folder, for its tests and benchmarks; a user's files are in `project_dir()`.
PROJECT_ROOT = Path(__file__).resolve().parent.parent


def _inside(name: str) -> Callable[[], Path]:
    return lambda: project_dir() / name


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything one run of the pool needs to know. To add a setting, add a field."""

    database: DatabaseSettings
    state_dir: Path = field(default_factory=_inside(".local"))
    # What --browser-endpoint and the variables beside it come to.
    elsewhere: BrowsersElsewhere | None = None

    workers: int = setting(
        cores,
        "Worker processes to start, each with one browser; auto: as many as pay, up to MAX.",
        least=1, most=MOST_WORKERS, parse=workers_of, metavar="N|auto[:MAX]",
    )  # fmt: skip
    total: int | None = setting(
        None,
        "Slots of all hosts that share the queue; the most with --slots auto.  "
        "[default: --workers]",
        least=1,
    )
    offset: int = setting(0, "First slot of this host.", least=0)
    slots: str = setting(
        "fixed",
        "How this host gets its slots: fixed from --offset on; auto: what is free of those that "
        "all hosts share; indexed: by its number in a Kubernetes Job or StatefulSet.",
        choices=SLOT_CHOICES,
    )
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
        None, "The browser's program.  [default: the one that is found]", metavar="PATH"
    )
    browser_type: str = setting(
        "chromium",
        "The browser to use; Firefox and WebKit are Playwright's own, and have fewer guards.",
        choices=TYPES,
    )
    browser_channel: str | None = setting(
        None, "Use the Chrome or Edge that is installed here.", choices=tuple(CHANNELS)
    )
    browser_args: tuple[str, ...] = setting(
        (),
        "A further argument for the browser's command line; repeatable.",
        metavar="ARGUMENT",
        problem=arguments_problem,
    )
    slow_mo_seconds: float = duration(
        "0s", "Wait this long at each step on a page, so that a person can follow.", most=2
    )
    browser_context: str | None = setting(
        None,
        "Options of all jobs' browser contexts; in nightshift.toml the table [browser.context].",
        metavar="JSON",
        problem=context_problem,
    )
    block: tuple[str, ...] = setting(
        (),
        "What pages do not load: a kind of file (image) or a host (*.ads.example); repeatable.",
        metavar="PATTERN",
        problem=block_patterns.problem_in,
    )
    browser_endpoint: tuple[str, ...] = setting(
        (),
        "Use a browser elsewhere, at this endpoint; {slot} is the worker's; repeatable. "
        "A secret: better as NIGHTSHIFT_BROWSER_ENDPOINT.",
        metavar="URL",
        problem=endpoint_problem,
    )
    endpoint_context: str = setting(
        "fresh",
        "Where jobs work in a browser elsewhere: in contexts of their own, or in the service's.",
        choices=("fresh", "default"),
    )
    headless: bool = setting(True, "Show the browser windows.", off="--headed")
    live_pictures: bool = setting(
        True, "Give the dashboard no live pictures of pages.", off="--no-live-pictures"
    )
    deny_private: bool = setting(
        False, "Keep pages from private, loopback and link-local addresses."
    )
    respect_robots: bool = setting(
        False, "Open no page that its site's robots.txt refuses to the browser's user agent."
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
        for each in flag_fields():
            each.metadata["flag"].check(flag_name(each), getattr(self, each.name))
        browser = (self.browser, self.browser_type, self.browser_channel)
        elsewhere = self.elsewhere is not None
        if problem := contradiction(
            *browser,
            deny_private=self.deny_private,
            respect_robots=self.respect_robots,
            is_elsewhere=elsewhere,
        ):
            raise UsageError(problem)
        given = (self.slots, self.workers, self.offset, self.total)
        object.__setattr__(self, "total", total_of(*given, helps=self.help_others))

    @property
    def queues(self) -> tuple[str, ...]:
        """The names of the queues to work, each once."""
        return tuple(dict.fromkeys(name.strip() for name in self.queue.split(",")))

    @property
    def shares_slots(self) -> bool:
        """Whether this run takes its slots as they are free, instead of having some."""
        return self.slots == "auto"

    @property
    def finds_number(self) -> bool:
        """Whether `workers` is only the most of them: how many there are follows the machine."""
        return isinstance(self.workers, AutoWorkers)

    @property
    def own_slots(self) -> range:
        """The slots this run works itself, out of `total`, unless it shares them."""
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
