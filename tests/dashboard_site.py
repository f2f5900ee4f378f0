"""A dashboard over a database that holds a night, served as the command serves it."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from waitress import wasyncore  # type: ignore[import-untyped]

from bench import sample_night
from bench.sample_night import Night
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.dashboard.people import People, Role
from worker.dashboard.server import listen
from worker.database import migrations
from worker.database.client import Database
from worker.database_settings import DatabaseSettings

PASSWORD = "correct horse battery"
_numbers = itertools.count(1)


@dataclass(slots=True)
class Site:
    """The app, its address if it is served, its database and what is in it."""

    app: Flask
    config: DashboardConfig
    db: Database
    night: Night
    url: str = ""

    @property
    def people(self) -> People:
        return People(self.config.users_file)

    def client(self, name: str | None = None) -> FlaskClient:
        """Give a browser without a window; signed in as somebody, if a name is given."""
        client = self.app.test_client()
        client.environ_base["HTTP_HOST"] = "localhost"
        if name is not None:
            answer = client.post(
                "/sign-in",
                data={"name": name, "password": PASSWORD, "form_token": token(client, "/sign-in")},
            )
            assert answer.status_code == 303, answer.text
        return client

    def add_people(self) -> None:
        """Let an operator and a viewer in, and nobody else."""
        self.people.set_user("mara", Role.OPERATOR, PASSWORD)
        self.people.set_user("vic", Role.VIEWER, PASSWORD)

    def forget(self) -> None:
        """Have everything counted anew."""
        self.app.extensions["nightshift"].facts.forget()


def token(client: FlaskClient, page: str = "/") -> str:
    """Read the secret that the forms of this session carry."""
    client.get(page)
    with client.session_transaction() as session:
        return str(session["form"])


def send(client: FlaskClient, path: str, **fields: str) -> Any:
    """Send a form as a browser would."""
    page = "/sign-in" if path == "/sign-in" else "/"
    fields.setdefault("form_token", token(client, page))
    return client.post(path, data=fields, headers={"Sec-Fetch-Site": "same-origin"})


@contextmanager
def made(server: Any, folder: Path, words: str = "", **changes: Any) -> Iterator[Site]:
    """Make a database with a night in it, and the app over it."""
    settings = DatabaseSettings(
        database=f"nightshift_web_{next(_numbers)}", unix_socket=server.unixsocket
    )
    with closing(Database(replace(settings, database=""))) as admin:
        admin.run_statement(
            f"CREATE DATABASE {settings.database} CHARACTER SET utf8mb4 COLLATE utf8mb4_bin"
        )
        try:
            with closing(Database(settings)) as db:
                migrations.migrate(db)
                night = sample_night.fill(db, folder / "errors", words)
                config = DashboardConfig(
                    database=settings,
                    errors_dir=folder / "errors",
                    users_file=folder / "state" / "dashboard.json",
                    state_dir=folder / "state",
                    version="0",
                )
                app = create_app(replace(config, **changes))
                yield Site(app, replace(config, **changes), db, night)
        finally:
            app.extensions["nightshift"].connections.close()
            admin.run_statement(f"DROP DATABASE {settings.database}")


@contextmanager
def served(site: Site) -> Iterator[Site]:
    """Serve it on a port of this machine, as the command does."""
    sockets: dict[int, Any] = {}
    server = listen(site.app, site.config, "127.0.0.1", 0, sockets)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    site.url = f"http://127.0.0.1:{server.effective_port}"
    try:
        yield site
    finally:
        server.task_dispatcher.shutdown()
        # Only its own thread may close what it waits for.
        server.trigger.pull_trigger(partial(wasyncore.close_all, sockets))
        thread.join(5)
        assert not thread.is_alive()
