"""Faults on the way to the database, made by the proxy."""

from __future__ import annotations

from worker.drill.strike import Strike


def go_half_open(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.go_half_open(strike.rng.choice((0.3, 1.0)), strike.rng)
    strike.last(1, 5)
    strike.scratch.proxy.take_new()


def hold_bytes(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.hold()
    strike.last(1, 6)
    strike.scratch.proxy.let_go()


def reset_connections(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.reset()


def refuse_connections(strike: Strike) -> None:
    strike.begin()
    strike.scratch.proxy.refuse()
    strike.last(1, 5)
    strike.scratch.proxy.accept()
