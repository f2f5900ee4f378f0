"""The first facts are waited for, since there is nothing older to show; later ones are not."""

from __future__ import annotations

import threading
from datetime import datetime

import pytest

from worker.dashboard import facts
from worker.dashboard.facts import FactKeeper, Facts

NOON = datetime(2026, 2, 1, 12)  # noqa: DTZ001 - as the database has it


class NoConnections:
    def borrow(self):
        return None

    def give_back(self, _):
        pass


@pytest.fixture
def gate(monkeypatch):
    """Holds a pass up until it is set."""
    found = threading.Event()

    def slow(_):
        assert found.wait(30)
        return Facts(at=NOON, counts={}, waiting=0)

    monkeypatch.setattr(facts, "gather", slow)
    yield found
    found.set()


def test_the_first_facts_are_waited_for_on_a_busy_machine(gate):
    keeper = FactKeeper(NoConnections())
    threading.Timer(0.3, gate.set).start()

    assert keeper.get(wait_seconds=0.01).at == NOON


def test_while_new_ones_are_gathered_the_last_are_told(gate):
    keeper = FactKeeper(NoConnections())
    gate.set()
    keeper.get()
    gate.clear()
    keeper.forget()

    assert keeper.get(wait_seconds=0.01).at == NOON
