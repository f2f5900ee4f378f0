"""The watchdog fires once time is over, never after, and says where the block was."""

from __future__ import annotations

import gc
import threading
import time
import weakref

import pytest

from worker.browser import watchdog as module
from worker.browser.watchdog import Watchdog


def spin_until(event: threading.Event) -> None:
    deadline = time.monotonic() + 30
    while not event.is_set():
        assert time.monotonic() < deadline
        time.sleep(0.005)


def test_no_thread_runs_before_the_first_limit():
    before = set(threading.enumerate())
    Watchdog().limit(1, lambda: None)

    assert before.issuperset(threading.enumerate())


def test_a_block_that_outlives_its_limit_is_fired_at_and_located():
    fired = threading.Event()
    with Watchdog().limit(0.05, fired.set) as limit:
        spin_until(fired)

    assert limit.fired
    assert "in spin_until" in limit.stack
    assert limit.stack.count("File") <= 3
    assert "watchdog.py" not in limit.stack.replace(__file__, "")


def test_a_block_that_is_left_in_time_is_left_alone():
    watchdog, fired = Watchdog(), threading.Event()
    # A machine that held us up for longer than the limit proves nothing: then once more.
    for _ in range(100):
        fired.clear()
        began = time.monotonic()
        with watchdog.limit(0.1, fired.set) as limit:
            pass
        if time.monotonic() - began < 0.1:
            break

    assert not fired.wait(0.3)
    assert not limit.fired
    assert limit.stack == ""


def test_short_blocks_do_not_wake_the_thread(monkeypatch):
    watchdog = Watchdog()
    wakings = []
    monkeypatch.setattr(watchdog._wakeup, "notify", lambda: wakings.append(1))
    for _ in range(100):
        with watchdog.limit(30, lambda: None):
            pass
        time.sleep(0.001)

    assert len(wakings) <= 1


def test_limits_nest_and_the_shorter_one_fires_alone():
    watchdog, inner, outer = Watchdog(), threading.Event(), threading.Event()
    with watchdog.limit(30, outer.set) as long, watchdog.limit(0.05, inner.set) as short:
        spin_until(inner)

    assert (short.fired, long.fired) == (True, False)


def test_an_outer_limit_fires_inside_an_inner_one():
    watchdog, outer = Watchdog(), threading.Event()
    with watchdog.limit(0.05, outer.set) as long, watchdog.limit(30, lambda: None) as short:
        spin_until(outer)

    assert (short.fired, long.fired) == (False, True)


def test_the_last_resort_follows_only_when_the_block_goes_on(monkeypatch):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.2)
    watchdog, first, last = Watchdog(), threading.Event(), threading.Event()
    # As above: what counts is a block that was left before its patience was over.
    for _ in range(100):
        first.clear()
        last.clear()
        began = time.monotonic()
        with watchdog.limit(0.05, first.set, last.set):
            spin_until(first)
        if time.monotonic() - began < 0.25:
            break
    assert not last.wait(0.4)
    with watchdog.limit(0.05, first.set, last.set):
        spin_until(last)


def test_a_failing_kill_does_not_end_the_watch():
    watchdog, fired = Watchdog(), threading.Event()

    def fail() -> None:
        fired.set()
        raise OSError("no such process")

    with watchdog.limit(0.02, fail) as first:
        spin_until(fired)
    fired.clear()
    with watchdog.limit(0.02, fired.set):
        spin_until(fired)
    assert isinstance(first.error, OSError)


def test_leaving_a_block_waits_for_a_kill_in_progress():
    watchdog, begun = Watchdog(), threading.Event()
    finished: list[float] = []

    def kill_slowly() -> None:
        begun.set()
        time.sleep(0.2)
        finished.append(time.monotonic())

    with watchdog.limit(0.02, kill_slowly):
        spin_until(begun)
    left = time.monotonic()

    assert finished
    assert finished[0] <= left


def test_an_exception_passes_through_the_block():
    with pytest.raises(ValueError, match="mine"), Watchdog().limit(5, lambda: None):
        raise ValueError("mine")


def test_many_limits_cost_next_to_nothing():
    watchdog = Watchdog()

    def seconds() -> float:
        started = time.monotonic()
        for _ in range(1000):
            with watchdog.limit(60, lambda: None):
                pass
        return time.monotonic() - started

    # The best of several, because the machine may have had other things to do.
    assert min(seconds() for _ in range(5)) < 1


def test_what_else_is_to_be_done_comes_after_the_kill():
    done: list[str] = []
    over = threading.Event()
    limit = Watchdog().limit(0.05, lambda: done.append("killed"))
    with limit.also(lambda: (done.append("noted"), over.set())) as entered:  # type: ignore[arg-type]
        spin_until(over)

    assert entered is limit
    assert done == ["killed", "noted"]


def test_what_a_block_used_is_gone_with_it_and_not_left_to_the_garbage_collector():
    class Page:
        pass

    def block():
        page = Page()
        with Watchdog().limit(60, lambda: None):
            return weakref.ref(page)

    gc.disable()
    try:
        assert block()() is None
    finally:
        gc.enable()
