"""`launcher.py db …`: start, stop and inspect the private server, or open an SQL shell."""

from __future__ import annotations

import os
import shutil
import sys
from contextlib import closing
from dataclasses import replace

import click

from worker.cli import output
from worker.cli.connection import (
    is_private,
    private_server,
    private_settings,
    require_queue,
    resolve,
    state_dir,
)
from worker.cli.groups import DefaultGroup
from worker.cli.options import json_flag
from worker.cli.output import tell, tell_json
from worker.database.client import Database, DatabaseError
from worker.database_settings import DatabaseSettings
from worker.errors import NightshiftError, UsageError
from worker.queue import runs
from worker.supervisor.run_lock import RunLock
from worker.system.fork import call_in_child


class DatabaseGroup(DefaultGroup):
    """Without a command, show the status."""

    default = "status"


@click.group("db", cls=DatabaseGroup)
def db() -> None:
    """Start, stop and inspect the private database server."""


@db.command("start")
def start() -> None:
    """Start the private server, unless it is running."""
    _require_private()
    resolve()
    tell(f"the private server is running, socket {private_server().socket_path}")


@db.command("stop")
@click.option("--force", is_flag=True, help="Stop it although a run is using it.")
def stop(force: bool) -> None:
    """Stop the private server, if it is running. It stays stopped until a command needs it."""
    _require_private()
    was_running = private_server().is_running()
    if was_running and not force:
        _warn_of_run()
    # Also where it does not run: a pool that misses it must not start it again.
    call_in_child(private_server().stop)
    stopped = "the private server is stopped"
    tell(stopped if was_running else "the private server was not running")


@db.command("status")
@json_flag
def status(as_json: bool) -> None:
    """Show which database is used and whether it answers."""
    if is_private() and not private_server().is_running():
        state = "was stopped" if private_server().was_stopped else "is not running"
        settings, answer = None, f"the private server {state}; start it: launcher.py db start"
    else:
        settings = resolve()
        answer = _answer(settings)
    if as_json:
        tell_json({"database": str(settings or "private"), "status": answer})
        return
    tell(f"{settings or private_server().socket_path}: {answer}")


@db.command("shell")
def shell() -> None:
    """Open an SQL shell on the database, with the system's client if there is one."""
    require_queue()
    settings = resolve()
    client = shutil.which("mariadb") or shutil.which("mysql")
    if client is None:
        _plain_shell(settings)
        return
    # The password goes by the environment: everybody can read argv.
    environment = {**os.environ, "MYSQL_PWD": settings.password}
    where = (
        [f"--socket={settings.unix_socket}"]
        if settings.unix_socket
        else [f"--host={settings.host}", f"--port={settings.port}"]
    )
    argv = [client, f"--user={settings.user}", *where, settings.database]
    os.execvpe(client, argv, environment)


def _plain_shell(settings: DatabaseSettings) -> None:
    """Read statements that end with `;` and print their rows, tab-separated."""
    is_terminal = sys.stdin.isatty()
    if is_terminal:
        tell(f"{settings}; end a statement with ; and the session with Ctrl-D", err=True)
    with closing(Database(settings, read_timeout_seconds=600.0)) as database:
        statement = ""
        for line in sys.stdin:
            statement += line
            if statement.rstrip().endswith(";"):
                _print_rows(database, statement)
                statement = ""
        if statement.strip():
            _print_rows(database, statement)


def _print_rows(database: Database, statement: str) -> None:
    try:
        rows = database.run_statement(statement.strip().rstrip(";"))
    except (NightshiftError, DatabaseError) as error:
        tell(f"error: {error}", err=True)
        return
    lines = [list(rows[0])] if rows else []
    lines += [["NULL" if value is None else str(value) for value in row.values()] for row in rows]
    for cells in lines:
        if output.is_terminal():
            tell("  ".join(cells))
        else:
            output.write_exactly("\t".join(cells) + "\n")


def _warn_of_run() -> None:
    """Name the run that is at work, if there is one, and ask; off a terminal, refuse."""
    lock = RunLock.of_all_queues(state_dir(), private_settings())
    if lock.try_acquire():
        lock.release()
        return
    warning = f"{_run_at_work() or lock.holder()} is at work on this server"
    consequence = "its jobs would wait until the server is started again"
    if not output.is_asking_possible():
        raise UsageError(f"{warning}; {consequence}; end the run first, or use --force")
    if not output.ask(f"{warning}; {consequence}. Stop the server?"):
        raise click.Abort


def _run_at_work() -> str | None:
    try:
        with closing(Database(private_settings())) as database:
            run = runs.latest(database)
    except (NightshiftError, DatabaseError):
        return None
    if run is None or run["ended_at"] is not None:
        return None
    return f"run {run['id']} (host {run['host']}, pid {run['pid']})"


def _answer(settings: DatabaseSettings) -> str:
    try:
        with closing(Database(replace(settings, database=""))) as database:
            version = database.run_statement("SELECT VERSION() AS version")[0]["version"]
        return f"answers, version {version}"
    except NightshiftError as error:
        return str(error)


def _require_private() -> None:
    if not is_private():
        raise UsageError(
            "DATABASE_URL or MYSQL_* names a server of your own; Nightshift never starts or stops "
            "that one"
        )


COMMANDS = [db]
