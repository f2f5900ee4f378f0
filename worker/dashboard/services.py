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
from worker.dashboard.facts import Facts
from worker.dashboard.keeper import Keeper
from worker.dashboard.people import People, User
from worker.dashboard.queue_facts import QueueFacts
from worker.dashboard.sessions import Sessions
from worker.dashboard.sign_in_limit import SignInLimit
from worker.dashboard.wall import Wall
from worker.dashboard.wording import Clock
from worker.database.client import Row
from worker.queue import pause
from worker.queue.pause import Pauses

NAME = "nightshift"


@dataclass(frozen=True, slots=True)
class Services:
    """One dashboard's own."""

    config: DashboardConfig
    people: People
    sessions: Sessions
    connections: Connections
    facts: Keeper[Facts]
    queues: Keeper[QueueFacts]
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


def queue_facts() -> QueueFacts:
    """Give what is known of queues, batches and schedules; gathered only while somebody looks."""
    return services().queues.get()


def pauses() -> Pauses:
    """Tell what is paused and by whom; asked once in a request."""
    if "pauses" not in g:
        g.pauses = pause.all_pauses(database())
    return cast(Pauses, g.pauses)


def paused() -> Row | None:
    """Tell who paused all pools, if somebody did."""
    return pauses().everything


def user() -> User:
    """Tell who asks; the guards have made sure of it."""
    return cast(User, g.user)


def told_at(moment: datetime) -> None:
    """Note the database's time of what this page tells."""
    g.told_at = moment
