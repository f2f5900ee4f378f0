"""Procrastinate on PostgreSQL, as it comes."""

from __future__ import annotations

import os

import psycopg
from procrastinate import App, PsycopgConnector, SyncPsycopgConnector

DSN = os.environ["BENCH_POSTGRESQL"]
AT_ONCE = 500

app = App(connector=PsycopgConnector(conninfo=DSN))


@app.task(name="noop")
def noop(url: str) -> dict[str, bool]:
    """Do nothing, successfully."""
    return {"ok": True}


def fill(jobs: int) -> None:
    """Make the tables anew and put so many jobs in."""
    with psycopg.connect(DSN, autocommit=True) as connection:
        connection.execute("DROP SCHEMA public CASCADE")
        connection.execute("CREATE SCHEMA public")
    with app.replace_connector(SyncPsycopgConnector(conninfo=DSN)) as filling, filling.open():
        filling.schema_manager.apply_schema()
        for first in range(0, jobs, AT_ONCE):
            numbers = range(first, min(first + AT_ONCE, jobs))
            noop.batch_defer(*({"url": f"https://example.com/{number}"} for number in numbers))


def left() -> int:
    """Count the jobs that are not done."""
    with psycopg.connect(DSN) as connection:
        row = connection.execute(
            "SELECT COUNT(*) FROM procrastinate_jobs WHERE status IN ('todo', 'doing')"
        ).fetchone()
    return row[0] if row else 0
