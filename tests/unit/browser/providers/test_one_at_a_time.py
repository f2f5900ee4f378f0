"""One process at a time, also after one has died."""

from __future__ import annotations

import multiprocessing
import os
import time

from worker.browser.providers.one_at_a_time import alone


def hold(path, is_held, may_die) -> None:
    with alone(path, time.monotonic() + 5) as is_alone:
        assert is_alone
        is_held.set()
        may_die.wait(20)
        os._exit(9)


def test_others_wait_and_a_dead_one_holds_nobody_up(tmp_path):
    path = tmp_path / "state" / "x.busy"
    context = multiprocessing.get_context("spawn")
    is_held, may_die = context.Event(), context.Event()
    holder = context.Process(target=hold, args=(path, is_held, may_die))
    holder.start()
    assert is_held.wait(20)

    with alone(path, time.monotonic() + 0.1) as is_alone:
        assert not is_alone

    may_die.set()
    holder.join()
    with alone(path, time.monotonic() + 5) as is_alone:
        assert is_alone
