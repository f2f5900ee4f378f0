"""What a page in a real browser says reaches terminals as text, and programs as it is."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from tests.attacks.hostile_text import FORGED, HOSTILE, orders_in, run_on_terminal
from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.pseudo_terminal import Terminal

TASKS = """
import sys

from worker import Fail, task

@task("hostile")
def hostile(page, payload, job):
    text = payload["text"]
    page.evaluate("text => { document.title = text }", text)
    title = page.evaluate("text => text", text)
    job.step(title)
    # Its lines are the task's own affair: whoever prints may print several.
    print(*title.splitlines(), file=sys.stderr)
    job.log.warning("the page says %s", title)
    if payload.get("hold"):
        page.wait_for_timeout(1500)
    if payload.get("fail"):
        raise Fail(title)
    return {"title": title, "=" + title: title}
"""
# What a live display draws with; the hostile text has none of these.
DRAWING = r"\x1b\[(?:\?25[lh]|[0-9;]*[mKA])|\r"


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "hostile.py"
    path.write_text(TASKS, encoding="utf-8")
    return path


@pytest.fixture
def environment(settings, tmp_path):
    results = str(tmp_path / "results")
    return {"DATABASE_URL": url_of(settings), "NIGHTSHIFT_RESULTS_DIR": results}


@pytest.mark.parametrize("is_failing", [False, True])
def test_a_task_that_is_tried_shows_a_page_and_does_not_obey_it(
    own, tmp_path, environment, is_failing
):
    payload = json.dumps({"text": HOSTILE, "fail": is_failing})
    command = ("try", "hostile", "--tasks", own, "--payload", payload)

    code, shown = run_on_terminal(tmp_path, command, **environment)
    piped = run_command(tmp_path, *command, **environment)

    assert (code, piped.returncode) == (is_failing, is_failing)
    assert orders_in(shown) == []
    assert "nightshift: ok" in shown
    assert orders_in(piped.stdout + piped.stderr) == []
    if not is_failing:
        assert json.loads(piped.stdout)["title"] == HOSTILE


def test_what_is_reproduced_shows_a_page_and_does_not_obey_it(own, queue, tmp_path, environment):
    job = queue.enqueue("hostile", {"text": HOSTILE, "fail": True})

    code, shown = run_on_terminal(tmp_path, ("reproduce", job, "--tasks", own), **environment)

    assert code == 1
    assert orders_in(shown) == []
    assert "its task is run for real" in shown


@pytest.fixture
def drained(queue, launch, own):
    """A job of a hostile page that is done, one that failed, and what their run printed."""
    jobs = [queue.enqueue("hostile", {"text": HOSTILE, "fail": bad}) for bad in (False, True)]
    run = launch("--workers", 1, "--tasks", own)
    assert run.wait() == 0
    return jobs, run


def test_a_run_logs_a_page_as_one_line_each(drained):
    _, run = drained

    assert orders_in(run.output) == []
    said = [line for line in run.stderr.splitlines() if "the page says" in line]
    assert len(said) == 2
    assert all("nightshift: ok" in line for line in said)


@pytest.mark.parametrize("form", ["jsonl", "csv"])
def test_an_export_is_exact_for_programs_and_tame_on_a_terminal(
    drained, tmp_path, environment, form
):
    command = ("export", "--format", form)
    title = f"={HOSTILE}"

    piped = run_command(tmp_path, *command, **environment).stdout
    _, shown = run_on_terminal(tmp_path, command, **environment)
    _, named = run_on_terminal(tmp_path, (*command, "-o", "/dev/stdout"), **environment)

    assert orders_in(shown + named) == []
    assert "nightshift: ok" in shown
    if form == "jsonl":
        assert json.loads(piped)["result"] == {"title": HOSTILE, title: HOSTILE}
        assert json.loads(shown.splitlines()[0])["result"] == {"title": HOSTILE, title: HOSTILE}
        return
    header, row = csv.reader(io.StringIO(piped, newline=""))
    assert header[-2:] == ["title", f"'{title}"]
    assert row[-2:] == [HOSTILE, HOSTILE]
    # A terminal shows both streams: the table, and what it came to.
    assert shown.splitlines()[2:] == ["exported 1 job"]


def test_the_live_display_draws_a_page_and_does_not_obey_it(queue, launch, own):
    queue.enqueue("hostile", {"text": HOSTILE, "url": f"http://a/{HOSTILE}", "hold": True})
    queue.enqueue("hostile", {"text": HOSTILE, "fail": True})
    queue.enqueue(f"no such task {HOSTILE}", {})
    terminal = Terminal()
    try:
        run = launch("--workers", 1, "--tasks", own, stderr=terminal.far, TERM="xterm-256color")
        wait_until(lambda: "nightshift: ok" in terminal.drawn, "the page is shown")
        # A terminal that nobody reads holds its writers up.
        wait_until(lambda: terminal.drawn and not run.is_running, "the run has ended")
        assert run.wait() == 0
        drawn = re.sub(DRAWING, "", terminal.drawn)
    finally:
        terminal.close()

    assert orders_in(drawn) == []
    assert "http://a/?[2J" in drawn
    assert orders_in(run.stdout) == []


@pytest.mark.parametrize("suffix", [".txt", ".csv", ".jsonl"])
def test_the_complaints_about_a_file_are_one_line_each(tmp_path, environment, database, suffix):
    path = tmp_path / f"bad{suffix}"
    quoted = json.dumps(HOSTILE)
    path.write_text(
        {
            ".txt": HOSTILE.replace("\r\n", "") + "\n",
            ".csv": f'url,"{HOSTILE}"\n"{HOSTILE}",1\n1,2,"{HOSTILE}"\n',
            ".jsonl": f'{{"url": {quoted}}}\n{{{quoted}: 1, {quoted}: 2}}\n{HOSTILE}\n',
        }[suffix],
        encoding="utf-8",
        newline="",
    )

    code, shown = run_on_terminal(tmp_path, ("enqueue", path), TERM="dumb", **environment)
    piped = run_command(tmp_path, "enqueue", path, **environment)

    assert (code, piped.returncode) == (2, 2)
    assert orders_in(piped.stderr) == []
    assert not FORGED.search(shown)
    assert "\x1b]0;" not in shown
    assert "\u202e" not in shown
