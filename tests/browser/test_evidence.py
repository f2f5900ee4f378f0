"""Every failure leaves evidence, in whatever state the page is, and within its budget."""

from __future__ import annotations

import json
import os
import signal
import socket
import time
import zipfile
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from tests.capturing import capture
from worker import __version__
from worker.browser.evidence import missing
from worker.browser.page_rules import PageRules

TEXTS = {"error", "traceback", "console", "network"}


def report(errors_dir: Path) -> dict[str, object]:
    return json.loads((errors_dir / "4729" / "2" / "error.json").read_text())


def test_a_living_page_leaves_everything(session, site, failure, errors_dir):
    page = session.page_for_job(trace=True)
    page.goto(site.url("/"))

    outcomes = capture(errors_dir, failure, session)

    folder = errors_dir / "4729" / "2"
    assert missing(outcomes) == {}
    assert {path.name for path in folder.iterdir()} == {
        "error.json", "traceback.txt", "screenshot.png", "page.html", "console.log",
        "network.json", "trace.zip",
    }  # fmt: skip
    assert (folder / "screenshot.png").read_bytes().startswith(b"\x89PNG")
    assert "Hello" in (folder / "page.html").read_text()
    assert zipfile.ZipFile(folder / "trace.zip").testzip() is None
    facts = report(errors_dir)
    assert facts["final_url"] == site.url("/")
    assert facts["status"] == 200
    assert facts["fence"] == 17
    assert facts["captured"]["screenshot"] == "ok"
    assert session.is_alive


def test_when_where_and_with_what_it_failed_is_told(session, site, failure, errors_dir):
    session.page_for_job().goto(site.url("/"))
    step = {"at": "2026-01-31T23:10:02.000Z", "text": "opened http://me:pw@shop.test/"}
    before = datetime.now(UTC) - timedelta(milliseconds=1)
    capture(errors_dir, replace(failure, seconds=90.0, steps=(step,)), session)

    facts = report(errors_dir)
    started, finished = (datetime.fromisoformat(facts[name]) for name in ("started", "finished"))
    assert before <= finished <= datetime.now(UTC)
    assert finished - started == timedelta(seconds=90)
    assert facts["clock"] == "host"
    assert facts["host"] == socket.gethostname()
    assert facts["nightshift_version"] == __version__
    assert facts["browser_version"].split(".")[0].isdigit()
    assert "chrom" in facts["browser"].lower()
    assert facts["steps"] == [{**step, "text": "opened http://[redacted]@shop.test/"}]


def test_a_silent_hang_names_the_request_it_waits_for(session, site, failure, errors_dir):
    hang(session, site, "/never")
    capture(errors_dir, failure, session)

    network = json.loads((errors_dir / "4729" / "2" / "network.json").read_text())
    assert [request["url"] for request in network["pending"]] == [site.url("/never")]


def test_what_the_page_said_while_the_task_slept_is_kept(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.evaluate("() => { setTimeout(() => console.log('said late'), 10) }")
    time.sleep(1.0)  # What a task does that does not know of `page.wait_for_timeout`.
    session.kill()
    capture(errors_dir, failure, session)

    assert "said late" in (errors_dir / "4729" / "2" / "console.log").read_text()


def test_no_secret_is_written(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/?access_token=abc123"))
    capture(errors_dir, failure, session)

    folder = errors_dir / "4729" / "2"
    for name in ("error.json", "traceback.txt", "console.log", "network.json"):
        text = (folder / name).read_text()
        assert not [
            s for s in ("hunter2", "me:pw", "user:secret", "abc123", "topsecret") if s in text
        ]


def test_what_a_page_says_cannot_hurt_a_terminal(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/spam"))
    outcomes = capture(errors_dir, failure, session)

    log = (errors_dir / "4729" / "2" / "console.log").read_text()
    assert outcomes["console"] == "ok"
    assert "red" in log
    assert "\x1b" not in log
    assert "\x07" not in log


def test_a_dead_browser_leaves_the_texts(session, site, failure, errors_dir, wait_until):
    session.page_for_job().goto(site.url("/"))
    session.kill()
    wait_until(lambda: not session.is_alive)
    started = time.monotonic()
    outcomes = capture(errors_dir, failure, session)

    # The budget of a capture that waits for an answer is twenty seconds.
    assert time.monotonic() - started < 10
    assert {step for step, outcome in outcomes.items() if outcome == "ok"} == TEXTS
    assert outcomes["screenshot"] == "skipped: the browser is dead"
    assert report(errors_dir)["captured"]["html"] == "skipped: the browser is dead"
    assert report(errors_dir)["final_url"] == site.url("/")


def test_a_crashed_page_leaves_the_texts_and_the_trace(session, site, failure, errors_dir):
    page = session.page_for_job(trace=True, rules=PageRules(schemes=("chrome",)))
    page.goto(site.url("/"))
    with pytest.raises(PlaywrightError):
        page.goto("chrome://crash")
    outcomes = capture(errors_dir, failure, session)

    assert {step for step, outcome in outcomes.items() if outcome == "ok"} == TEXTS | {"trace"}
    assert "crashed" in outcomes["screenshot"]
    assert report(errors_dir)["page_crashed"] is True


def test_a_closed_page_leaves_the_texts(session, failure, errors_dir):
    session.page_for_job().close()
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "skipped: the page is closed"
    assert {step for step, outcome in outcomes.items() if outcome == "ok"} == TEXTS


def test_a_job_that_never_had_a_page_leaves_the_texts(session, failure, errors_dir):
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "skipped: there was no page"
    assert report(errors_dir)["final_url"] is None


def hang(session, site, path: str, *, trace: bool = False) -> float:
    """Open a page that hangs, with a page timeout of a second; return when that was over."""
    page = session.page_for_job(trace=trace)
    began = time.monotonic()
    with pytest.raises(PlaywrightTimeout):
        page.goto(site.url(path), timeout=1000)
    return began + 1.0


@pytest.mark.parametrize("trace", [False, True], ids=["", "traced"])
@pytest.mark.parametrize(
    ("path", "seconds"), [("/never", 2.0), ("/headers-only", 2.0), ("/spinning", 6.0)]
)
def test_a_page_that_hangs_costs_seconds_and_no_browser(
    session, site, failure, errors_dir, path, seconds, trace
):
    browser = session.processes()[1]
    timed_out_at = hang(session, site, path, trace=trace)
    outcomes = capture(errors_dir, failure, session)
    session.release(clean=False)

    assert time.monotonic() - timed_out_at < seconds
    assert session.is_alive
    assert session.processes()[1] == browser
    assert outcomes.get("trace", "ok") == "ok"
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_page_that_never_answers_is_pictured_where_it_was(session, site, failure, errors_dir):
    session.page_for_job().goto(site.url("/"))
    with pytest.raises(PlaywrightTimeout):
        session.page.goto(site.url("/never"), timeout=500)
    outcomes = capture(errors_dir, failure, session)

    assert missing(outcomes) == {}
    assert "Hello" in (errors_dir / "4729" / "2" / "page.html").read_text()


def test_an_empty_page_is_not_waited_for(session, site, failure, errors_dir):
    hang(session, site, "/headers-only")
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "skipped: the page is still empty"


def test_a_spinning_page_is_stopped_and_pictured(session, site, failure, errors_dir):
    hang(session, site, "/spinning")
    outcomes = capture(errors_dir, failure, session)

    assert missing(outcomes) == {}
    assert "Hello" in (errors_dir / "4729" / "2" / "page.html").read_text()


def test_a_page_that_cannot_be_stopped_is_left_alone(
    session, site, failure, errors_dir, monkeypatch: pytest.MonkeyPatch
):
    hang(session, site, "/spinning")
    monkeypatch.setattr(session.tab, "stop_scripts", lambda: None)
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == outcomes["html"] == "skipped: the page does not answer"
    assert session.is_alive


def test_a_stopped_driver_cannot_outlast_the_budget(session, site, failure, errors_dir):
    session.page_for_job().goto(site.url("/"))
    os.kill(session.processes()[0].pid, signal.SIGSTOP)
    started = time.monotonic()
    outcomes = capture(errors_dir, failure, session, budget_seconds=1)

    assert time.monotonic() - started < 15
    assert outcomes["screenshot"] == "skipped: the browser is dead"
    assert {step for step, outcome in outcomes.items() if outcome == "ok"} == TEXTS


def test_fonts_that_never_load_do_not_cost_the_screenshot(session, site, failure, errors_dir):
    page = session.page_for_job()
    page.goto(site.url("/fonts"), wait_until="domcontentloaded")
    outcomes = capture(errors_dir, failure, session)

    assert outcomes["screenshot"] == "ok"


def test_a_reused_attempt_number_does_not_mix_two_captures(session, site, failure, errors_dir):
    session.page_for_job(trace=True).goto(site.url("/"))
    capture(errors_dir, failure, session)
    session.page_for_job()
    session.kill()
    capture(errors_dir, failure, session)

    assert not (errors_dir / "4729" / "2" / "trace.zip").exists()
    assert (errors_dir / "4729" / "2.1" / "trace.zip").exists()


def test_the_stack_of_a_hang_is_in_the_traceback_file(session, failure, errors_dir):
    capture(errors_dir, replace(failure, hang_stack='  File "task.py", line 3'), session)

    assert "Where it hung" in (errors_dir / "4729" / "2" / "traceback.txt").read_text()
