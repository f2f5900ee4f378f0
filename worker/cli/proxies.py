"""`launcher.py proxies …`: add, set, import, list, test, disable, enable and remove proxies.

Credentials come from a hidden prompt, from stdin or from a file, never from the command line,
and nothing here prints them.
"""

from __future__ import annotations

import sys
from contextlib import closing
from dataclasses import replace
from typing import Any

import click

from worker.cli.connection import begin_database, open_database
from worker.cli.groups import DefaultGroup
from worker.cli.import_file import all_or_none, bytes_of
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.profile_doors import change_lines, doorless_lines
from worker.cli.proxy_lines import check_name, read_lines
from worker.cli.wording import duration, moment, operator
from worker.database.client import Row
from worker.errors import UsageError
from worker.installation import command_line
from worker.profiles import doors, proxy_changes
from worker.profiles.proxy_changes import THEN_DIRECT, Reviews
from worker.proxies import blocks
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy
from worker.proxies.trial import TRIAL_URL, Trial, try_all

MOST_SITES = 3
HEADER = ("NAME", "PROXY", "REGION", "STATE", "BLOCKS", "ACCOUNTS", "LAST USED", "WHY")


@click.group("proxies", cls=DefaultGroup)
def group() -> None:
    """Manage the proxies that jobs go through."""


@group.command("add")
@click.argument("name")
@click.argument("url", required=False)
@click.option("--region", help="Your name for where the proxy is: de, us-east …")
def add(name: str, url: str | None, region: str | None) -> None:
    """Add a proxy. Nightshift asks for its URL, or reads it from stdin.

    A URL without a login may also be given as an argument.
    """
    proxy = _proxy("add", name, url, region)
    reviews = Reviews(operator())
    with closing(begin_database()) as db:
        proxies.add(db, proxy, reviews)
        doorless = doors.unchosen(db)
    tell(f"added {name} ({proxy.label}); try it: {command_line('proxies', 'test', name)}")
    tell_all([*change_lines(reviews), *doorless_lines(doorless, doorless)])


@group.command("set")
@click.argument("name")
@click.argument("url", required=False)
@click.option("--region", help="Another name for where the proxy is; without it, as before.")
def set_(name: str, url: str | None, region: str | None) -> None:
    """Change a proxy's address or login. Nightshift asks for its URL, or reads it from stdin.

    It may be used at once. With another address, its profiles go up for review.
    """
    proxy = _proxy("set", name, url, region)
    reviews = Reviews(operator())
    with closing(open_database()) as db:
        proxies.change(db, proxy, reviews)
    tell(f"{name} is {proxy.label} now; try it: {command_line('proxies', 'test', name)}")
    tell_all(change_lines(reviews))


@group.command("import")
@click.argument("file", metavar="FILE|-")
def import_(file: str) -> int:
    """Add many proxies from a file: all of them, or none.

    Each line is a URL or `URL,name,region`. A CSV file with a header works too.
    """
    reviews = Reviews(operator())
    with closing(begin_database()) as db:
        taken = {row["name"] for row in proxies.all_proxies(db)}
        added = proxies.add_all(db, all_or_none(read_lines(_text_of(file), taken)), reviews)
        doorless = doors.unchosen(db)
    tell(f"added {_proxies(added)}; try them: launcher.py proxies test")
    tell_all([*change_lines(reviews), *doorless_lines(doorless, doorless)])
    return 0


@group.command("list")
@json_flag
def list_(as_json: bool) -> None:
    """Show all proxies with their state, blocks and last use, without logins."""
    with closing(open_database()) as db:
        rows = proxies.all_proxies(db)
        sites = blocks.cooling(db)
    for row in rows:
        row["cooling_sites"] = [_site(site) for site in sites if site["proxy_id"] == row["id"]]
    if as_json:
        tell_json([_as_json(row) for row in rows])
        return
    if not rows:
        tell("no proxies: jobs connect directly; add one: launcher.py proxies add NAME")
        return
    table = [HEADER, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(table[0]))]
    for line in table:
        cells = (cell.ljust(width) for cell, width in zip(line, widths, strict=True))
        tell("  ".join(cells).rstrip())


@group.command("test")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--url", default=TRIAL_URL, show_default=True, help="The page to load.")
@json_flag
def test(names: tuple[str, ...], url: str, as_json: bool) -> None:
    """Load a page through each proxy. The exit code is 0 even when one fails.

    With the --url of a page that says the caller's address, also learn what sites see.
    """
    told: list[dict[str, Any]] = []
    reviews = Reviews(operator())
    with closing(open_database()) as db:
        for trial in try_all(proxies.named(db, names), url):
            proxies.record_trial(
                db, trial.proxy, trial.took_ms, trial.problem, trial.exit_address, reviews
            )
            told.append(
                {
                    "name": trial.proxy.name,
                    "proxy": trial.proxy.label,
                    "ok": trial.problem is None,
                    "status": trial.status,
                    "test_ms": trial.took_ms,
                    "problem": trial.problem,
                    "exit_address": trial.exit_address,
                }
            )
            if not as_json:
                tell(_trial_line(trial))
    if as_json:
        tell_json(told)
        return
    tell_all(change_lines(reviews))
    if not told:
        tell("no proxies; add one: launcher.py proxies add NAME")


@group.command("disable")
@click.argument("name")
@click.option("--reason", help="Why, for others to read.")
def disable(name: str, reason: str | None) -> None:
    """Stop using a proxy; its accounts get another one."""
    with closing(open_database()) as db:
        proxies.disable(db, name, reason)
    tell(f"disabled {name}; workers leave it within 5 seconds")


@group.command("enable")
@click.argument("name")
def enable(name: str) -> None:
    """Use a proxy again, starting now."""
    with closing(open_database()) as db:
        proxies.enable(db, name)
    tell(f"enabled {name}")


@group.command("remove")
@click.argument("name")
@click.option(
    "--used-by",
    multiple=True,
    metavar="NAME",
    help="A profile or account that uses it; all of them have to be named.",
)
@click.option(
    THEN_DIRECT, is_flag=True, help="Needed for the last one: pages go out directly from then on."
)
def remove(name: str, used_by: tuple[str, ...], then_direct: bool) -> None:
    """Remove a proxy, and forget which accounts used it.

    Profiles that use it are not ready until they have another one, or it is back.
    """
    with closing(open_database()) as db:
        is_last = proxy_changes.remove(
            db, name, frozenset(used_by), by=operator(), then_direct=then_direct
        )
    told = "; there are no proxies any more: pages go out directly" if is_last else ""
    tell(f"removed {name}{told}")


def _proxy(command: str, name: str, url: str | None, region: str | None) -> Proxy:
    check_name(name)
    if url is not None and "@" in url:
        raise UsageError(
            "everybody on this machine can see a login on the command line; "
            f"leave the URL out to be asked for it: {command_line('proxies', command, name)}"
        )
    return replace(Proxy.parse(url or _secret_url()), name=name, region=region or None)


def _secret_url() -> str:
    if sys.stdin.isatty():
        return str(click.prompt("URL (not shown)", hide_input=True, err=True))
    url = sys.stdin.readline().strip()
    if not url:
        raise UsageError("no URL on stdin; write http://user:password@host:port there")
    return url


def _text_of(file: str) -> str:
    try:
        return bytes_of(file).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"{file} is not UTF-8; save it as UTF-8") from None


def _proxies(number: int) -> str:
    return "1 proxy" if number == 1 else f"{number:,} proxies"


def _state(row: Row) -> str:
    if not row["is_enabled"]:
        return "disabled"
    if row["cooling_seconds"] > 0:
        return f"cooling {duration(float(row['cooling_seconds']))}"
    if sites := len(row["cooling_sites"]):
        return f"cooling at {sites} site{'s' if sites > 1 else ''}"
    return "failing test" if row["test_problem"] else "ready"


def _why(row: Row) -> str:
    if not row["is_enabled"]:
        return row["disabled_reason"] or ""
    if row["cooling_seconds"] > 0:
        return row["cooling_reason"] or ""
    if sites := row["cooling_sites"]:
        told = [
            f"{site['site'] or '(no site)'} {duration(site['seconds'])}: {site['reason']}"
            for site in sites[:MOST_SITES]
        ]
        more = f"; {len(sites) - MOST_SITES} more" if len(sites) > MOST_SITES else ""
        return "; ".join(told) + more
    return row["test_problem"] or ""


def _site(block: Row) -> dict[str, Any]:
    seconds = float(block["cooling_seconds"])
    return {"site": block["site"], "seconds": seconds, "reason": block["reason"]}


def _label(row: Row) -> str:
    return Proxy(row["scheme"], row["host"], row["port"]).label


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row["name"],
        _label(row),
        row["region"] or "–",
        _state(row),
        str(row["blocks"]),
        str(row["accounts"]),
        moment(row["used_at"]),
        _why(row),
    )


def _as_json(row: Row) -> dict[str, Any]:
    flags = {name: bool(row[name]) for name in ("has_login", "is_enabled")}
    return {**row, **flags, "proxy": _label(row), "state": _state(row).partition(" ")[0]}


def _trial_line(trial: Trial) -> str:
    name = f"{trial.proxy.name} ({trial.proxy.label})"
    if trial.problem is not None:
        return f"{name}: FAILED after {trial.took_ms} ms: {trial.problem}"
    status = f", HTTP {trial.status}" if trial.status is not None else ""
    status += " from the site, not from the proxy" if trial.is_refused_by_site else ""
    seen = f"; sites see {trial.exit_address}" if trial.exit_address else ""
    return f"{name}: ok in {trial.took_ms} ms{status}{seen}"


COMMANDS = [group]
