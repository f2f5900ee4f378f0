"""A worker at the gate, and the one breaker that a test has opened."""

from __future__ import annotations

from tests.integration.gate_worker import worker
from worker.guards import breakers

__all__ = ["breaker", "pass_time", "worker"]


def pass_time(database, beyond: float = 4.0) -> None:
    """Let the breaker's time be over; four seconds later its canary's neighbours are ready, too."""
    seconds = float(breaker(database)["wait_seconds"] or 0) + beyond
    database.run_statement(f"UPDATE breakers SET until = until - INTERVAL {seconds} SECOND")
    database.run_statement(
        f"UPDATE work_queue SET not_before = not_before - INTERVAL {seconds} SECOND"
    )
    database.run_statement(
        "UPDATE work_queue SET not_before = NULL WHERE not_before < UTC_TIMESTAMP(6)"
    )


def breaker(database):
    return breakers.all_breakers(database)[0][0]
