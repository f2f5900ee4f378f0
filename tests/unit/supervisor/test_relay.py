"""A child that prints without end gets its turn, and no more."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from worker.supervisor import relay as relays
from worker.supervisor.output import READ_BYTES, LineReader
from worker.supervisor.relay import TURN_READS, TURN_SECONDS, Relay
from worker.supervisor.slot import Slot
from worker.system.board import Board


class Shown:
    """A display that keeps what it is given, and may be slow."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str]] = []
        self.seconds_per_line = 0.0

    def line(self, who: str, text: str) -> None:
        self.lines.append((who, text))
        time.sleep(self.seconds_per_line)

    def of(self, who: str) -> int:
        return sum(name == who for name, _ in self.lines)


class Endless(LineReader):
    """A pipe that is never empty."""

    def __init__(self, fd: int) -> None:
        super().__init__(fd)
        self.bytes_read = 0

    def read(self) -> list[str]:
        self.bytes_read += READ_BYTES
        return ["x" * 100] * 20


@pytest.fixture
def pool() -> Iterator[tuple[Relay, Shown, list[Slot]]]:
    """Two slots whose workers chatter without end, and a silent heart."""
    slots = [Slot(number, Board(1).entries[0], lambda _: 0) for number in range(2)]
    pipes = [os.pipe() for _ in range(3)]
    for slot, (reader, _) in zip(slots, pipes, strict=False):
        slot.output = Endless(reader)
    shown, heart = Shown(), LineReader(pipes[2][0])
    yield Relay(shown, slots, heart), shown, slots
    for reader in (heart, *(slot.output for slot in slots)):
        reader.close()
    for _, writer in pipes:
        os.close(writer)


def test_a_turn_is_bounded_and_shared(pool, monkeypatch):
    monkeypatch.setattr(relays, "TURN_SECONDS", 60.0)
    relay, shown, slots = pool

    relay.take_turn(relay.filenos()[:2])

    assert sum(slot.output.bytes_read for slot in slots) == TURN_READS * READ_BYTES
    assert shown.of("worker 0") == shown.of("worker 1") > 0


def test_a_turn_ends_in_time_where_showing_is_slow(pool):
    relay, shown, _ = pool
    shown.seconds_per_line = 0.002

    began = time.monotonic()
    relay.take_turn(relay.filenos()[:2])

    assert time.monotonic() - began < TURN_SECONDS + 1.0
    assert len(shown.lines) < TURN_READS * 20


def test_who_was_first_is_not_first_in_the_next_turn(pool, monkeypatch):
    monkeypatch.setattr(relays, "TURN_READS", 1)
    relay, shown, _ = pool
    for _ in range(2):
        relay.take_turn(relay.filenos()[:2])

    assert {who for who, _ in shown.lines} == {"worker 0", "worker 1"}


def test_the_last_words_of_a_dead_worker_are_read_to_a_bound(pool):
    relay, _, (slot, _) = pool

    # Something that its task left behind prints on.
    relay.drain(slot)

    assert not slot.output.is_open
    assert len(slot.last_lines) == 100
