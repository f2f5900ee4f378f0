"""Where the disk gives no more, an outcome still reaches the database, and says what is missing."""

from __future__ import annotations

from pathlib import Path

from tests.lifecycle.conftest import wait_until
from worker.browser.options import find_browser


def test_a_failure_without_a_place_for_its_evidence_is_told_all_the_same(
    launch, queue, tasks, noted, let_go, errors_dir
):
    failing = queue.enqueue("held_failure", {})
    dying = queue.enqueue("dying", {"code": 3}, max_attempts=1)
    good = queue.enqueue("noop", {})
    starving = queue.enqueue("starving", {})
    run = launch("--workers", 1, "--tasks", tasks, "--json")
    wait_until(lambda: noted("begun"), "the first job has begun")
    # Root may write anywhere, but not into a file as if it were a folder.
    for job in (failing, dying):
        (errors_dir / str(job)).write_bytes(b"")
    let_go()

    assert run.wait() == 0
    assert (run.summary["done"], run.summary["failed"], run.summary["crashes"]) == (1, 3, 1)
    assert queue.get(good)["status"] == "done"
    expected = {failing: "as the test wanted it", dying: "exited with code 3"}
    for job, cause in {**expected, starving: "as the test wanted it"}.items():
        assert queue.get(job)["status"] == "error"
        (attempt,) = queue.history(job)
        assert cause in attempt["reason"]
        assert "no evidence: " in attempt["reason"], f"job {job}"
        assert attempt["evidence"] is None


def test_a_worker_without_a_temporary_folder_is_given_up_in_one_line(launch, queue, tmp_path):
    job = queue.enqueue("visit", {"url": "about:blank"})
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / "tmp").write_bytes(b"")

    run = launch("--workers", 1)

    assert run.wait() == 69
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("pending", 0)
    assert f"cannot write to {tmp_path / 'state' / 'tmp'}" in run.stderr
    assert "GIVEN UP" in run.stdout


def test_a_machine_that_cannot_start_browsers_for_a_while_costs_no_slot_and_no_attempt(
    launch, queue, tmp_path
):
    job = queue.enqueue("visit", {"url": "about:blank"})
    browser = _stingy_browser(tmp_path, refusals=4)

    run = launch("--workers", 1, "--json", NIGHTSHIFT_BROWSER=str(browser))

    assert run.wait(60) == 0
    assert (queue.get(job)["status"], queue.get(job)["attempts"]) == ("done", 1)
    assert run.stderr.count("the machine is short of something (Resource temporarily") == 4
    assert "GIVEN UP" not in run.stdout + run.stderr


def _stingy_browser(folder: Path, refusals: int) -> Path:
    """Make a browser that starts only at a later try, with the words of a full process table."""
    program, tries = folder / "stingy", folder / "tries"
    browser = find_browser() or "no-browser"
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && exec {browser} "$1"\n'
        f"echo try >> {tries}\n"
        f"if [ $(wc -l < {tries}) -le {refusals} ]; then\n"
        "  echo 'pthread_create: Resource temporarily unavailable (11)' >&2; exit 1\n"
        f'fi\nexec {browser} "$@"\n',
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program
