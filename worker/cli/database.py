"""`launcher.py db …`: start, stop and inspect the private server, or open an SQL shell."""

from __future__ import annotations

import json
import os
import shutil
import sys
from contextlib import closing
from dataclasses import replace

import click

from worker.cli.connection import is_private, private_server, resolve
from worker.cli.groups import DefaultGroup
from worker.cli.options import json_flag
from worker.database.client import Database, DatabaseError
from worker.database_settings import DatabaseSettings
from worker.errors import NightshiftError, UsageError
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
    click.echo(f"the private server is running, socket {private_server().socket_path}")


@db.command("stop")
def stop() -> None:
    """Stop the private server, if it is running."""
    _require_private()
    if not private_server().is_running():
        click.echo("the private server was not running")
        return
    call_in_child(private_server().stop)
    click.echo("the private server is stopped")


@db.command("status")
@json_flag
def status(as_json: bool) -> None:
    """Show which database is used and whether it answers."""
    if is_private() and not private_server().is_running():
        settings, answer = None, "the private server is not running; start it: launcher.py db start"
    else:
        settings = resolve()
        answer = _answer(settings)
    if as_json:
        click.echo(json.dumps({"database": str(settings or "private"), "status": answer}))
        return
    click.echo(f"{settings or private_server().socket_path}: {answer}")


@db.command("shell")
def shell() -> None:
    """Open an SQL shell on the database, with the system's client if there is one."""
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
        click.echo(f"{settings}; end a statement with ; and the session with Ctrl-D", err=True)
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
        click.echo(f"error: {error}", err=True)
        return
    if rows:
        click.echo("\t".join(rows[0]))
    for row in rows:
        click.echo("\t".join("NULL" if value is None else str(value) for value in row.values()))


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
