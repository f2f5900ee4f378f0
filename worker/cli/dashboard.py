"""`launcher.py dashboard`: serve the operator's view; add who may use it."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from worker import __version__
from worker.cli.connection import open_database, resolve, state_dir
from worker.cli.groups import DefaultGroup
from worker.cli.output import tell
from worker.errors import SettingsError, UsageError
from worker.evidence.evidence_place import errors_dir

if TYPE_CHECKING:
    from worker.dashboard.config import DashboardConfig
    from worker.dashboard.people import People

PORT = 8642
ROLES = ("viewer", "operator")


class ServeGroup(DefaultGroup):
    """Without a command this is `serve`."""

    default = "serve"


@click.group("dashboard", cls=ServeGroup)
def dashboard() -> None:
    """Show everything in a browser, and act on it."""
    if importlib.util.find_spec("flask") is None or importlib.util.find_spec("waitress") is None:
        raise SettingsError(
            "the dashboard needs Flask and waitress: pip install 'nightshift[web]' "
            "(in a checkout: make setup)"
        )


@dashboard.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=PORT, show_default=True)
@click.option(
    "--allow-host", "more_hosts", multiple=True, metavar="NAME",
    help="A host name under which browsers may open the dashboard; repeatable.",
)  # fmt: skip
@click.option(
    "--https",
    "is_https",
    is_flag=True,
    help="Set this when a proxy in front of the dashboard serves it over https.",
)
@click.option(
    "--trusted-proxy", metavar="ADDRESS", default="",
    help="Address of a proxy in front; its X-Forwarded-For header is trusted.  [default: none]",
)  # fmt: skip
@click.option("--reports", metavar="DIR", help="The folder that runs write reports to.")
def serve(
    host: str,
    port: int,
    more_hosts: tuple[str, ...],
    is_https: bool,
    trusted_proxy: str,
    reports: str | None,
) -> None:
    """Serve the dashboard until Ctrl-C.

    Only this machine can reach it, unless --host or a proxy in front of it lets others in; then
    everybody has to sign in.
    """
    from worker.dashboard.config import allowed_hosts, checked_proxy, needs_people
    from worker.dashboard.server import serve as serve_app

    proxy = checked_proxy(trusted_proxy)
    opened_by = needs_people(host, more_hosts, is_https=is_https, proxy=proxy)
    if opened_by:
        _require_users(opened_by)
    if is_https and not proxy:
        tell(
            "all who come through the proxy share one limit for signing in; to tell them apart: "
            "--trusted-proxy ADDRESS, the proxy's own",
            err=True,
        )
    open_database().close()
    config = replace(
        _config_of_project(reports),
        hosts=allowed_hosts(host, more_hosts),
        is_https=is_https,
        is_shared=bool(opened_by),
        trusted_proxy=proxy,
    )
    serve_app(config, host, port, lambda url: tell(f"dashboard: {url} (Ctrl-C ends it)", err=True))


@dashboard.command("user")
@click.argument("name")
@click.option("--role", type=click.Choice(ROLES), default="viewer", show_default=True)
@click.option("--remove", is_flag=True, help="Remove this user.")
def user(name: str, role: str, remove: bool) -> None:
    """Add a user or change one; asks for the password. An operator may act, a viewer only look."""
    from worker.dashboard.people import Role

    people = _people()
    if remove:
        if not people.remove_user(name):
            raise UsageError(f"there is no user {name}; nothing was done")
        tell(f"removed {name}; open sessions end at once")
        return
    password = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    is_new = people.set_user(name, Role(role), password)
    tell(f"{'added' if is_new else 'changed'} {name}, {role}")


@dashboard.command("users")
def users() -> None:
    """List who may sign in."""
    names = _people().names()
    for name, role in names.items():
        tell(f"{name}  {role.value}")
    if not names:
        tell("no users: whoever is on this machine may use the dashboard")


@dashboard.command("token")
@click.argument("name")
@click.option("--remove", is_flag=True, help="Remove this token.")
def token(name: str, remove: bool) -> None:
    """Make a token for a program that reads /api/v1; it is shown once."""
    people = _people()
    if remove:
        if not people.remove_token(name):
            raise UsageError(f"there is no token {name}; nothing was done")
        tell(f"removed the token {name}")
        return
    tell(people.add_token(name))
    tell("shown once: curl -H 'Authorization: Bearer TOKEN' …/api/v1/status", err=True)


def _require_users(opened_by: str) -> None:
    if not _people().has_users():
        raise SettingsError(
            f"{opened_by}: others can reach the dashboard, and nobody would have to sign in; first "
            f"add a user: launcher.py dashboard user NAME --role operator"
        )


def _config_of_project(reports: str | None) -> DashboardConfig:
    """Say what is shown, and where it lies: what the project and this machine decide."""
    from worker.dashboard.config import DashboardConfig
    from worker.dashboard.wording import local_clock

    folder = reports or os.environ.get("NIGHTSHIFT_REPORT_TO")
    clock = local_clock()
    return DashboardConfig(
        database=resolve(),
        errors_dir=errors_dir(),
        users_file=_users_file(),
        state_dir=state_dir(),
        reports_dir=Path(folder).absolute() if folder else None,
        zone=clock.zone,
        zone_name=clock.name,
        version=__version__,
    )


def _users_file() -> Path:
    return state_dir() / "dashboard.json"


def _people() -> People:
    from worker.dashboard.people import People

    return People(_users_file())


COMMANDS = [dashboard]
