"""Rows with ids of a test's choice, and what looking at them cost the server."""

from __future__ import annotations


def add_jobs(database, ids, **columns):
    """Insert many jobs with ids of our choice."""
    names, values = ", ".join(["id", "payload", *columns]), ", ".join(map(str, columns.values()))
    rows = ", ".join(f"({job_id}, '{{}}'{', ' if values else ''}{values})" for job_id in ids)
    database.run_statement(f"INSERT INTO work_queue ({names}) VALUES {rows}")


def rows_read(db):
    rows = db.run_statement("SHOW SESSION STATUS LIKE 'Handler_read%'")
    return sum(int(row["Value"]) for row in rows)


def questions(db):
    (row,) = db.run_statement("SHOW SESSION STATUS LIKE 'Questions'")
    return int(row["Value"])
