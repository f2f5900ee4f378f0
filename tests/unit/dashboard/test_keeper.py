"""A pass is waited for where what is known is not there, or of old; other ones are not."""

from __future__ import annotations

import threading
import time

import pytest

from worker.dashboard.keeper import Keeper


class NoConnections:
    def borrow(self):
        return None

    def give_back(self, _):
        pass


class Gate:
    """Holds passes up until it is open."""

    def __init__(self):
        self.is_open = threading.Event()
        self.passes = 0

    def gather(self, _):
        assert self.is_open.wait(30)
        self.passes += 1
        return f"pass {self.passes}"


@pytest.fixture
def gate():
    found = Gate()
    yield found
    found.is_open.set()


def test_the_first_pass_is_waited_for_on_a_busy_machine(gate):
    keeper = Keeper(NoConnections(), gate.gather)
    threading.Timer(0.3, gate.is_open.set).start()

    assert keeper.get(wait_seconds=0.01) == "pass 1"


def test_while_the_next_pass_goes_on_the_last_is_told(gate):
    keeper = Keeper(NoConnections(), gate.gather)
    gate.is_open.set()
    keeper.get()
    gate.is_open.clear()
    keeper.forget()

    assert keeper.get(wait_seconds=0.01) == "pass 1"


def test_a_pass_that_breaks_is_told_and_the_next_one_begins(caplog):
    broken = [True]

    def gather(_):
        if broken:
            raise TypeError(broken.pop())
        return "mended"

    keeper = Keeper(NoConnections(), gather)
    with pytest.raises(TypeError):
        keeper.get()
    assert "could not be gathered" in caplog.text

    keeper.forget()

    assert keeper.get() == "mended"


def test_what_has_changed_is_counted_before_it_is_told(gate):
    keeper = Keeper(NoConnections(), gate.gather)
    gate.is_open.set()
    keeper.get()
    assert keeper.get() == "pass 1"

    keeper.forget()

    assert keeper.get() == "pass 2"


def test_who_looks_after_a_long_while_is_not_told_what_was_true_then(gate, monkeypatch):
    keeper = Keeper(NoConnections(), gate.gather)
    gate.is_open.set()
    keeper.get()
    began = time.monotonic()
    monkeypatch.setattr("worker.dashboard.keeper.time.monotonic", lambda: began + 7 * 3600)

    assert keeper.get() == "pass 2"
    assert keeper.get() == "pass 2"
