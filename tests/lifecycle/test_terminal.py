"""What a run looks like on a terminal: alive while it lasts, tidy when it ends."""

from __future__ import annotations

import fcntl
import json
import re
import signal
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

import pytest

from tests.lifecycle.conftest import wait_until
from tests.lifecycle.pseudo_terminal import Terminal

HIDE_CURSOR, SHOW_CURSOR = "\x1b[?25l", "\x1b[?25h"
COLOUR = re.compile(r"\x1b\[(?:[0-9;]*;)?(?:3[0-8]|4[0-8]|9[0-7]|10[0-7])[;m]")


@pytest.fixture
def terminal() -> Iterator[Terminal]:
    terminal = Terminal()
    yield terminal
    terminal.close()


@pytest.fixture
def on_terminal(launch, terminal, queue, tasks, noted, let_go):
    """A run with a held job, one that fails and one to do, seen on a terminal until its end."""

    @contextmanager
    def run(**variables):
        job = queue.enqueue("held", {"url": "https://example.com/kept"})
        queue.enqueue("no such task", {})
        run = launch(
            *("--workers", 2, "--tasks", tasks),
            stderr=terminal.far,
            TERM="xterm-256color",
            **{"NO_COLOR": None, **variables},
        )
        wait_until(lambda: noted("begun"), "the job has begun")
        wait_until(lambda: f"job {job} working" in terminal.drawn, "the job is shown")
        wait_until(lambda: "1 failed" in terminal.drawn, "the failure is shown")
        yield run
        let_go()
        assert run.wait() == 0

    return run


def test_a_terminal_shows_the_pool_at_work_and_is_left_as_it_was(on_terminal, terminal):
    before = terminal.modes

    with on_terminal() as run:
        assert "2 workers, slots 0–1 of 2" in terminal.drawn
        assert "held https://example.com/kept" in terminal.drawn
        assert "━" in terminal.drawn
        assert HIDE_CURSOR in terminal.drawn

    drawn = terminal.drawn
    assert "Traceback" not in drawn
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)
    assert terminal.modes == before
    assert COLOUR.search(drawn)
    assert "1 done, 1 failed" in run.stdout
    assert "\x1b" not in run.stdout


def test_what_a_worker_says_is_one_line_on_the_terminal_too(on_terminal, terminal):
    with on_terminal():
        pass

    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", terminal.drawn)
    (said,) = [line for line in plain.splitlines() if "no task named" in line]
    assert "worker " in said
    assert "or correct the job's task" in said


def test_no_color_is_honoured(on_terminal, terminal):
    with on_terminal(NO_COLOR="1"):
        pass

    assert not COLOUR.search(terminal.drawn)


def test_ctrl_c_on_a_terminal_leaves_it_as_it_was(on_terminal, terminal, let_go):
    with on_terminal() as run:
        run.signal_group(signal.SIGINT)
        wait_until(lambda: "claiming nothing more" in terminal.drawn, "the signal is told")

    drawn = terminal.drawn
    assert drawn.rindex(SHOW_CURSOR) > drawn.rindex(HIDE_CURSOR)
    assert "Traceback" not in drawn


def test_without_a_terminal_there_is_no_picture(launch, queue, tasks):
    queue.enqueue("noop", {})

    run = launch("--workers", 1, "--tasks", tasks)

    assert run.wait() == 0
    assert "\x1b" not in run.output
    assert "━" not in run.output


@pytest.fixture
def watched(launch, terminal, queue, tasks, noted):
    """A run with a held job and one behind it, whose output goes to a terminal."""

    def start(*flags, controlling=False, streams=("stdout", "stderr"), **how):
        jobs = queue.enqueue("held", {}), queue.enqueue("noop", {})
        if controlling:
            # The kernel tells who has a controlling terminal when it is closed, and nobody else.
            how["preexec_fn"] = partial(fcntl.ioctl, terminal.far, termios.TIOCSCTTY, 0)
        how |= dict.fromkeys(streams, terminal.far)
        run = launch("--workers", 1, "--tasks", tasks, *flags, TERM="xterm", **how)
        wait_until(lambda: noted("begun"), "the job has begun")
        return run, jobs

    return start


def end_of(database) -> dict[str, object]:
    (row,) = database.run_statement("SELECT ended_at, summary FROM runs")
    assert row["ended_at"] is not None
    return json.loads(row["summary"])


@pytest.mark.parametrize("streams", [("stdout", "stderr"), ("stderr",), ("stdout",)])
def test_a_closed_terminal_costs_the_display_and_not_the_run(
    watched, terminal, database, queue, let_go, streams
):
    run, jobs = watched(streams=streams)

    terminal.hang_up()
    run.signal(signal.SIGUSR1)
    let_go()

    assert run.wait() == 0
    assert [queue.get(job)["status"] for job in jobs] == ["done"] * 2
    assert (end_of(database)["done"], end_of(database)["stopped_by"]) == (2, None)


def test_who_loses_its_controlling_terminal_stops_gracefully_and_records_it(
    watched, terminal, database, queue, let_go
):
    # It would wait for further jobs for ever.
    run, (held, _) = watched("--follow", controlling=True)

    terminal.hang_up()
    let_go()

    assert run.wait() == 0
    assert queue.get(held)["status"] == "done"
    assert end_of(database)["stopped_by"] == "SIGHUP"


def test_a_hang_up_that_was_ignored_at_the_start_stays_ignored(
    watched, terminal, database, queue, let_go
):
    # As `nohup` does it.
    ignoring = (
        "import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); "
        "from worker.cli.main import main; main()"
    )
    run, jobs = watched(controlling=True, program=("-c", ignoring))

    terminal.hang_up()
    run.signal(signal.SIGHUP)
    let_go()

    assert run.wait() == 0
    assert [queue.get(job)["status"] for job in jobs] == ["done"] * 2
    assert end_of(database)["stopped_by"] is None
