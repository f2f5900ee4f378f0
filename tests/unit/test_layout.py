"""What the outside may rely on: the names at the top level, and what a task author imports."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import nightshift
import worker

ROOT = Path(__file__).parents[2]
FIXED = {"launcher.py", "worker", "sql", "errors", "tests", "Makefile", "README.md"}
BESIDE = {
    "CHANGELOG.md",
    "LICENSE",
    "bench",
    "deploy",
    "docs",
    "examples",
    "nightshift",
    "pyproject.toml",
    "requirements.lock",
}
LEFT_BY_TOOLS = {"__pycache__", "results"}


def test_the_top_level_holds_what_it_should_and_little_else():
    found = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")}

    assert found >= FIXED
    assert found - LEFT_BY_TOOLS - FIXED <= BESIDE


def test_an_author_imports_six_names():
    assert worker.__all__ == ["Blocked", "Fail", "Job", "Retry", "enqueue", "task"]
    for name in worker.__all__:
        assert hasattr(worker, name)


def test_an_author_imports_them_from_nightshift():
    assert nightshift.__all__ == [
        *(
            "Blocked",
            "ContextOptions",
            "Fail",
            "Job",
            "NightshiftError",
            "PayloadError",
            "Retry",
            "UsageError",
        ),
        *("__version__", "enqueue", "open_page", "task"),
    ]
    assert set(worker.__all__) <= set(nightshift.__all__)
    for name in worker.__all__:
        assert getattr(nightshift, name) is getattr(worker, name)


def test_type_checkers_may_read_both_packages():
    for package in (nightshift, worker):
        assert (Path(package.__file__).parent / "py.typed").is_file()


def test_importing_them_loads_neither_driver_nor_browser():
    script = (
        "import sys, nightshift; "
        "print({'pymysql', 'playwright', 'click', 'rich', 'ssl'} & set(sys.modules) or 'none')"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )

    assert done.stdout == "none\n"


def test_what_a_task_sees_of_its_job_is_fixed():
    public = {name for name in dir(worker.Job) if not name.startswith("_")}

    assert public == {
        *("id", "attempt", "max_attempts", "task", "deadline", "seconds_left"),
        *("log", "step", "last_step", "attach", "path_for", "results_dir", "timeout_seconds"),
        *("profile_id", "account_id", "needs_review", "lease_fence", "secret"),
        *("enqueue", "enqueue_many", "push", "depth"),
    }


def test_the_options_of_a_task_are_fixed():
    signature = inspect.signature(worker.task)

    assert list(signature.parameters) == [
        *("name", "timeout", "max_attempts", "isolation", "browser", "retry_on", "params"),
        *("retry_delay", "max_blocks", "schemes", "downloads", "guess_half_done", "context"),
        "block",
    ]


def test_the_parameters_of_enqueue_are_fixed():
    signature = inspect.signature(worker.enqueue)

    assert list(signature.parameters) == [
        *("task", "payload", "connection", "queue", "batch", "priority", "not_before"),
        *("max_attempts", "timeout_seconds", "dedupe_key", "dedupe_across_tasks"),
        *("callback_url", "profile_id", "account_id"),
        *("order_key", "order_on_failure", "traceparent"),
    ]


def test_evidence_never_gets_into_the_repository():
    assert "/errors/*" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()
    assert (ROOT / "errors" / ".gitkeep").exists()


def test_the_entry_point_does_nothing_but_enter():
    lines = (ROOT / "launcher.py").read_text(encoding="utf-8").splitlines()

    assert len(lines) < 50
