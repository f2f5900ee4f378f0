"""`launcher.py limits` and `breakers`: set and show what may run, how often, and what must wait."""

from __future__ import annotations

import difflib
import math
from contextlib import closing

import click

from worker.cli.connection import begin_database, open_database
from worker.cli.groups import DefaultGroup
from worker.cli.options import DURATION, json_flag
from worker.cli.output import tell, tell_json
from worker.cli.wording import counted, duration, operator
from worker.database.client import Database, Row
from worker.errors import UsageError
from worker.guards import breakers as breaking
from worker.guards import limits as limiting
from worker.guards import pace
from worker.guards.keys import ClosedKey
from worker.guards.pace import Pace
from worker.installation import command_line
from worker.profiles import store
from worker.reasons import kept


@click.group("limits", cls=DefaultGroup)
def limits() -> None:
    """Cap how many jobs run at once and how many start per minute, hour or day, on all hosts."""


@limits.command("set")
@click.argument("key")
@click.option(
    "--concurrent",
    type=click.IntRange(min=0),
    help="How many jobs may run at once; 0 lets no job start.",
)
@click.option(
    "--per-minute",
    type=click.FloatRange(min=0, min_open=True),
    help="How many jobs may start per minute.",
)
@click.option(
    "--per-hour",
    type=click.IntRange(1, pace.MOST),
    help="How many jobs may start within any hour.",
)
@click.option(
    "--per-day",
    type=click.IntRange(1, pace.MOST),
    help="How many jobs may start within any 24 hours.",
)
@click.option(
    "--warm-up",
    metavar="FIRST..LAST/TIME",
    help="Starts within a day that grow from now on: 5..40/14d.",
)
def set_limit(
    key: str,
    concurrent: int | None,
    per_minute: float | None,
    per_hour: int | None,
    per_day: int | None,
    warm_up: str | None,
) -> None:
    """Limit a KEY: global, site:HOST, task:NAME, queue:NAME, account:ID or vendor:NAME.

    This replaces the limit that the KEY had.
    """
    if per_minute is not None and not math.isfinite(per_minute):
        raise UsageError(f"--per-minute {per_minute} is not a number; give one such as 30")
    paced = Pace(per_hour, per_day, None if warm_up is None else pace.parse_warm_up(warm_up))
    said = _caps(concurrent, per_minute, paced)
    if not said:
        raise UsageError(
            "give --concurrent, --per-minute, --per-hour, --per-day or --warm-up; "
            "to remove: limits clear KEY"
        )
    with closing(begin_database()) as db:
        limiting.set_limit(
            db, key, concurrent=concurrent, per_minute=per_minute, paced=paced, by=operator()
        )
        warning = _unknown_account(db, limiting.checked(key))
    tell(f"{limiting.checked(key)} is limited to {said}")
    if warning is not None:
        tell(f"warning: {warning}", err=True)


def _unknown_account(db: Database, key: str) -> str | None:
    """Say so if a key is for an account that does not exist, with the nearest that does."""
    kind, _, name = key.partition(":")
    known = [row["id"] for row in store.all_accounts(db)] if kind == "account" else [name]
    if name in known:
        return None
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"did you mean account:{near[0]}? " if near else ""
    return (
        f"there is no account {name} yet, so this holds nothing back; {meant}"
        f"see them: launcher.py accounts list"
    )


@limits.command("clear")
@click.argument("key")
def clear_limit(key: str) -> None:
    """Remove the limit of a KEY."""
    with closing(open_database()) as db:
        had_one = limiting.clear_limit(db, key)
    tell(f"{key} no longer has a limit" if had_one else f"{key} had no limit")


@limits.command("list")
@json_flag
def list_limits(as_json: bool) -> None:
    """Show every limit, and whether it holds jobs back now."""
    with closing(open_database()) as db:
        found = limiting.all_limits(db)
    if as_json:
        _print_json(found)
        return
    for row, closed in found:
        held = f"; now: {closed.reason}" if closed else ""
        paced = Pace(row["per_hour"], row["per_day"], pace.warm_up_of(row))
        tell(f"{row['name']}: {_caps(row['concurrent'], row['per_minute'], paced)}{held}")
    if not found:
        tell("no limits; set one: launcher.py limits set site:example.com --concurrent 2")


@click.group("breakers", cls=DefaultGroup)
def breakers() -> None:
    """Show, open and close the circuit breakers of sites and profiles."""


@breakers.command("list")
@click.option("--all", "with_closed", is_flag=True, help="Also show closed breakers.")
@json_flag
def list_breakers(with_closed: bool, as_json: bool) -> None:
    """Show which keys have an open breaker, why, and until when."""
    with closing(open_database()) as db:
        found = [
            (row, closed)
            for row, closed in breaking.all_breakers(db)
            if with_closed or row["state"] != "closed" or row["held"]
        ]
    if as_json:
        _print_json(found)
        return
    for row, closed in found:
        tell(_breaker_line(row, closed))
    if not found:
        tell("no breaker is open")


@breakers.command("open")
@click.argument("key")
@click.option(
    "--for", "seconds", type=DURATION, help="How long it stays open.  [default: until closed]"
)
@click.option("--reason", default="by hand", show_default=True, help="Why, for others to read.")
def open_breaker(key: str, seconds: float | None, reason: str) -> None:
    """Stop claiming jobs of a KEY such as site:example.com."""
    with closing(open_database()) as db:
        breaking.open_by_hand(db, key, seconds, reason, operator())
    until = f"for {duration(seconds)}" if seconds is not None else "until it is closed by hand"
    tell(f"no job of {key} is claimed {until}; close: {command_line('breakers', 'close', key)}")


@breakers.command("close")
@click.argument("key")
@click.option(
    "--keep",
    is_flag=True,
    help="Also stop it from opening by itself, until you close it without --keep.",
)
def close_breaker(key: str, keep: bool) -> None:
    """Claim jobs of a KEY again, starting now."""
    with closing(open_database()) as db:
        breaking.close_by_hand(db, key, keep=keep, by=operator())
    tell(f"the breaker of {key} is closed" + (" and will not open by itself" if keep else ""))


def _breaker_line(row: Row, closed: ClosedKey | None) -> str:
    if row["held"] == "closed":
        return f"{row['name']}: kept closed by {row['held_by']}"
    if row["state"] == "closed":
        return f"{row['name']}: closed, {counted(int(row['failures']), 'recent failure')}"
    if closed is None:
        return f"{row['name']}: open, and the next job is the canary: {kept(row['reason'])}"
    opens = (
        "" if closed.seconds is None else f", next check in {duration(max(0.0, closed.seconds))}"
    )
    tasks = f"; it holds back {', '.join(row['failing'])}" if row["failing"] else ""
    return f"{row['name']}: {row['state'].replace('_', ' ')}{opens}: {closed.reason}{tasks}"


def _caps(concurrent: int | None, per_minute: float | None, paced: Pace) -> str:
    caps = [] if concurrent is None else [f"{concurrent} at once"]
    caps += [] if per_minute is None else [f"{per_minute:g} per minute"]
    caps += [] if paced.per_hour is None else [f"{paced.per_hour} per hour"]
    caps += [] if paced.per_day is None else [f"{paced.per_day} per day"]
    caps += [] if paced.warm_up is None else [str(paced.warm_up)]
    return " and ".join(caps)


def _print_json(found: list[tuple[Row, ClosedKey | None]]) -> None:
    rows = [{**row, "holds_back": closed.reason if closed else None} for row, closed in found]
    tell_json(rows)


COMMANDS = [limits, breakers]
