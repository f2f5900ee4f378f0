"""What was raised is told as Python tells it, though the code it came through is read only once."""

from __future__ import annotations

import gc
import linecache
import traceback
import weakref

import pytest

from worker.evidence import known_secrets
from worker.execution.raised import Raised, traceback_of

SOURCE = """
def fails(message):
    raise ValueError(message)
"""


class Page:
    """What a task may hold when it fails."""


def caught(function, *args):
    with pytest.raises(Exception) as info:  # noqa: PT011 - each fails in its own way.
        function(*args)
    return info.value


def plain(message):
    return {}[message]


def misspelt():
    return plian("x")  # type: ignore[name-defined] # noqa: F821


def chained():
    try:
        plain("a")
    except KeyError as error:
        raise ValueError("b") from error


def within():
    try:
        plain("a")
    except KeyError:
        plain("b")


def hushed():
    try:
        plain("a")
    except KeyError:
        raise ValueError("b") from None


def noted():
    error = ValueError("b")
    error.add_note("as it was to be")
    raise error


def grouped():
    raise ExceptionGroup("both", [ValueError("a"), KeyError("b")])


def endless(depth=0):
    return endless(depth + 1) if depth < 20 else plain("deep")


def unreadable():
    compile("a b", "c.py", "exec")


@pytest.mark.parametrize(
    "function",
    [misspelt, chained, within, hushed, noted, grouped, endless, unreadable],
)
def test_a_traceback_reads_as_python_writes_it_each_time(function):
    for _ in range(2):
        error = caught(function)
        assert traceback_of(error) == "".join(traceback.format_exception(error))


def test_one_place_may_fail_with_other_words():
    first, second = caught(plain, "a"), caught(plain, "b")

    assert traceback_of(first).endswith("KeyError: 'a'\n")
    assert traceback_of(second).endswith("KeyError: 'b'\n")


def test_an_error_that_was_never_raised_has_no_traceback():
    assert traceback_of(ValueError("not here")) == "ValueError: not here\n"


def test_equal_functions_of_two_files_are_told_apart(tmp_path):
    for name in ("one.py", "other.py"):
        scope = {}
        exec(compile(SOURCE, str(tmp_path / name), "exec"), scope)  # noqa: S102

        assert f'{name}", line 3, in fails' in traceback_of(caught(scope["fails"], "x"))


def test_the_code_is_read_once_for_all_failures_of_one_place(monkeypatch):
    traceback_of(caught(plain, "first"))
    monkeypatch.setattr(linecache, "checkcache", lambda *_: pytest.fail("it was read again"))

    assert "return {}[message]" in traceback_of(caught(plain, "second"))


def test_no_values_of_a_failed_job_are_kept_with_its_text():
    def fails_with(page):
        raise ValueError(f"failed with {type(page).__name__}")

    page = Page()
    freed = weakref.ref(page)
    assert "Page" in traceback_of(caught(fails_with, page))
    del page
    gc.collect()

    assert freed() is None


def test_a_secret_of_the_job_is_masked_although_the_same_text_was_told_before():
    said = "the answer was correct-horse-battery: no"
    known_secrets.begin('{"url": "https://example.com"}')
    assert "correct-horse" in Raised.of(caught(plain, said), "visit").traceback
    known_secrets.begin('{"password": "correct-horse-battery"}')
    try:
        told = Raised.of(caught(plain, said), "visit")
    finally:
        known_secrets.end()

    assert "correct-horse" not in told.traceback + told.message + told.label
