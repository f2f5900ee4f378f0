"""What every request shares: the configuration, the people, the connections, the facts.

Pages ask for these by the functions here; nothing is kept at module level.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import cast

from flask import current_app, g

from worker.dashboard.config import DashboardConfig
from worker.dashboard.connections import Connections, CountingDatabase
from worker.dashboard.facts import FactKeeper, Facts
from worker.dashboard.people import People, User
from worker.dashboard.sign_in_limit import SignInLimit
from worker.dashboard.wall import Wall
from worker.dashboard.wording import Clock
from worker.database.client import Row
from worker.queue import pause

NAME = "nightshift"


@dataclass(frozen=True, slots=True)
class Services:
    """One dashboard's own."""

    config: DashboardConfig
    people: People
    connections: Connections
    facts: FactKeeper
    sign_ins: SignInLimit
    clock: Clock
    wall: Wall


def services() -> Services:
    """Give what this request's dashboard was made with."""
    return cast(Services, current_app.extensions[NAME])


def database() -> CountingDatabase:
    """Give this request's connection, borrowed when it is first asked for."""
    if "db" not in g:
        g.db = services().connections.borrow()
    return cast(CountingDatabase, g.db)


def give_back(_: BaseException | None = None) -> None:
    """End the request's hold on its connection."""
    if (db := g.pop("db", None)) is not None:
        services().connections.give_back(db)


def facts() -> Facts:
    """Give what the last pass has gathered, the same for the whole request."""
    if "facts" not in g:
        g.facts = services().facts.get()
    return cast(Facts, g.facts)


def paused() -> Row | None:
    """Tell who paused the pools, if somebody did; asked once in a request."""
    if "paused" not in g:
        g.paused = pause.paused(database())
    return cast("Row | None", g.paused)


def user() -> User:
    """Tell who asks; the guards have made sure of it."""
    return cast(User, g.user)


def told_at(moment: datetime) -> None:
    """Note the database's time of what this page tells."""
    g.told_at = moment
