"""A table of the numbers from 0 on, so that any number of rows can be made by one statement."""

from __future__ import annotations

from worker.database.client import Database


def have_numbers(db: Database, count: int) -> None:
    """Make the table `bench_numbers (n)` with so many numbers, each time with twice as many."""
    db.run_statement("CREATE TABLE IF NOT EXISTS bench_numbers (n INT PRIMARY KEY)")
    there = int(db.run_statement("SELECT COUNT(*) AS there FROM bench_numbers")[0]["there"])
    if there == 0:
        db.run_statement("INSERT INTO bench_numbers VALUES (0)")
        there = 1
    while there < count:
        db.run_statement(
            f"INSERT INTO bench_numbers SELECT n + {there} FROM bench_numbers "
            f"WHERE n < {count - there}"
        )
        there = min(2 * there, count)
