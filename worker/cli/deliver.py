"""`launcher.py deliver`: send the webhooks that are due, or show those that have not arrived."""

from __future__ import annotations

import logging
import os
from contextlib import closing
from dataclasses import asdict
from typing import Any

import click

from worker import log
from worker.cli.connection import open_database
from worker.cli.options import json_flag, run_settings
from worker.cli.output import tell, tell_json
from worker.cli.wording import counted, moment, plain
from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.webhooks import outbox


@click.command("deliver")
@click.option(
    "--list", "is_list", is_flag=True, help="Show the events that wait and those given up."
)
@click.option(
    "--limit",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Show at most this many events.",
)
@click.option("--retry-given-up", is_flag=True, help="Also send events that were given up.")
@run_settings("quiet")
@json_flag
def deliver(is_list: bool, limit: int, retry_given_up: bool, quiet: bool, as_json: bool) -> None:
    """Send the webhooks that are due, signed with NIGHTSHIFT_WEBHOOK_SECRET.

    A failed delivery does not change the exit code: it is tried again later, for three days.
    """
    if is_list and retry_given_up:
        raise UsageError("--list only shows and --retry-given-up sends; give one of them")
    with closing(open_database()) as db:
        if is_list:
            _list(db, limit, as_json)
        else:
            _deliver(db, retry_given_up, quiet, as_json)


def _deliver(db: Database, retry_given_up: bool, quiet: bool, as_json: bool) -> None:
    # Here, not above: the HTTP client would make every other command start later.
    from worker.webhooks.deliveries import Deliveries
    from worker.webhooks.sender import WebhookSettings

    settings = WebhookSettings.of(os.environ)
    log.configure("deliver", logging.WARNING)
    revived = outbox.revive(db) if retry_given_up else 0
    tally = Deliveries(db, settings).drain()
    left = outbox.counts(db)
    if as_json:
        told = {**asdict(tally), "waiting": left["waiting"], "left_given_up": left["given_up"]}
        tell_json(told)
        return
    if quiet and not (tally.failed or tally.given_up):
        return
    again = f"{counted(revived, 'event')} tried again; " if retry_given_up else ""
    text = (
        f"{again}{tally.delivered:,} delivered, {tally.failed:,} failed, "
        f"{tally.given_up:,} given up; {left['waiting']:,} waiting"
    )
    if left["given_up"]:
        text += f"; see launcher.py deliver --list ({left['given_up']:,} given up)"
    tell(text)


def _list(db: Database, limit: int, as_json: bool) -> None:
    from worker.webhooks.sender import shown

    rows = outbox.undelivered(db, limit=limit)
    left = outbox.counts(db)
    if as_json:
        told = [{**_plain(row), "to": shown(row["url"])} for row in rows]
        tell_json({**left, "events": told})
        return
    for row in rows:
        next_try = row["next_try_at"]
        state = "given up" if next_try is None else f"next try {moment(next_try)}"
        tell(
            f"job {row['job_id']}  {row['event']}  {moment(row['happened_at'])}  "
            f"to {shown(row['url'])}  tried {counted(row['deliveries'], 'time')}, {state}"
            + (f": {row['last_problem']}" if row["last_problem"] else "")
        )
    more = left["waiting"] + left["given_up"] - len(rows)
    tell(
        f"{counted(left['waiting'], 'event')} waiting, {left['given_up']:,} given up"
        + (f"; {more:,} not shown, see --limit" if more > 0 else "")
        + ("; try those again with --retry-given-up" if left["given_up"] else "")
    )


def _plain(row: Row) -> dict[str, Any]:
    """Make a row fit for JSON, without its URL, which may hold credentials."""
    return {name: plain(value) for name, value in row.items() if name != "url"}


COMMANDS = [deliver]
