"""Log lines: on stderr, named, without secrets and without what could steer a terminal."""

from __future__ import annotations

import logging
import re
import warnings

import pytest

from worker import log


@pytest.fixture
def configured():
    """Configure the log as a process does, and put back what was there."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield log.configure
    root.handlers[:] = handlers
    root.setLevel(level)
    for chatty in log.CHATTY:
        logging.getLogger(chatty).setLevel(logging.NOTSET)
    logging.captureWarnings(False)


def test_a_line_names_the_time_and_who_speaks_and_goes_to_stderr(configured, capsys):
    configured("worker 3")
    logging.getLogger("nightshift.worker").info("login with token=%s at\x1b[1m", "hunter2")
    logging.getLogger("nightshift.worker").debug("not shown")
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"\d\d:\d\d:\d\dZ worker 3: login with token=\[redacted\] at\?\[1m\n", err)


def test_what_a_library_says_of_each_request_is_no_line_of_ours(configured, capsys):
    configured("worker 3")
    logging.getLogger("httpx").info('HTTP Request: GET http://x.invalid/ "HTTP/1.1 407 Auth"')
    logging.getLogger("httpcore.connection").info("connected")
    logging.getLogger("httpx").warning("something is wrong")
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("worker 3: something is wrong")


def test_an_exception_in_the_log_is_redacted_too(configured, capsys):
    configured("worker 3")
    try:
        raise ValueError("mysql://owl:hunter2@db/night")
    except ValueError:
        logging.getLogger("nightshift.worker").exception("it failed")
    err = capsys.readouterr().err
    assert "ValueError: mysql://[redacted]@db/night" in err
    assert "hunter2" not in err


def test_a_warning_becomes_a_log_line(configured, capsys):
    configured("worker 3")
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(True)
        warnings.warn("this is old", UserWarning, stacklevel=1)
    assert "worker 3: " in (err := capsys.readouterr().err)
    assert "this is old" in err


def test_configuring_again_does_not_double_the_lines(configured, capsys):
    configured("worker 3")
    configured("worker 4")
    logging.getLogger("nightshift").warning("once")
    assert capsys.readouterr().err.count("once") == 1


def test_a_message_of_any_length_is_a_short_line_and_its_traceback_stays(configured, capsys):
    configured("worker 3")
    try:
        raise ValueError("y" * 3000)
    except ValueError:
        logging.getLogger("nightshift").exception("x" * 4500)

    first, *rest = capsys.readouterr().err.splitlines()
    assert len(first) == 1000
    assert first.endswith("x…")
    assert rest[-1] == f"ValueError: {'y' * 3000}"
