"""Sessions with a browser elsewhere: at a real Playwright server, and at real CDP behind a door."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from tests.browser.debug_browser import DebugBrowser
from tests.elsewhere import Door, PlaywrightServer
from worker.browser.elsewhere import config
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.session import BrowserSession

TOKEN = "t0ken-of-the-night-4711"


@pytest.fixture
def serve(tmp_path_factory) -> Iterator[Callable[..., PlaywrightServer]]:
    """Start Playwright servers."""
    started: list[PlaywrightServer] = []

    def start(**how) -> PlaywrightServer:
        server = PlaywrightServer(tmp_path_factory.mktemp("server"), **how)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def chromium(tmp_path) -> Iterator[DebugBrowser]:
    browser = DebugBrowser(tmp_path / "chromium")
    yield browser
    browser.stop()


@pytest.fixture
def door(tmp_path, chromium, monkeypatch) -> Iterator[Door]:
    """Chromium's CDP behind TLS and a token, with an authority that the driver trusts."""
    door = Door(tmp_path / "door", chromium.port, TOKEN)
    door.path = chromium.ws_url.split("/", 3)[3]
    door.url = f"wss://localhost:{door.port}/{door.path}"
    monkeypatch.setitem(os.environ, "NODE_EXTRA_CA_CERTS", str(door.authority))
    yield door
    door.close()


@pytest.fixture
def connect(tmp_path) -> Iterator[Callable[..., BrowserSession]]:
    """Make the session of a worker whose browser is at one of these addresses."""
    made: list[BrowserSession] = []

    def make(*addresses: str, has_default_context: bool = False, **more) -> BrowserSession:
        options = {n: more.pop(n) for n in list(more) if not n.isupper()}
        settings = config.take(addresses, more, has_default_context=has_default_context)
        session = BrowserSession(
            BrowserOptions(
                tmp_dir=tmp_path / f"worker-{len(made)}",
                executable=find_browser(),
                elsewhere=settings,
                launch_timeout_seconds=30,
                **options,
            )
        )
        made.append(session)
        return session

    yield make
    for session in made:
        session.close()
