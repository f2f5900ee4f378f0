"""Every provider with a profile of its own, on loopback."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.debug_browser import DebugBrowser, NoBrowser
from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import (
    API_KEY,
    EMAIL,
    PASSWORD,
    PASSWORD_MD5,
    TOKEN,
    VendorServer,
)
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers import cdp, profile_lock, vendor_start, vendor_stop
from worker.browser.providers.preset_file import load_preset, preset_names
from worker.browser.providers.provider import OpenedProfile, Provider, attempt
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor import VendorProvider
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError

VENDORS = preset_names()
SECRETS = (API_KEY, EMAIL, PASSWORD, PASSWORD_MD5, TOKEN)


@dataclass
class World:
    """A provider, a profile of it, and a view from outside on whether its browser runs."""

    name: str
    provider: Provider
    spec: ProfileSpec
    is_running: Callable[[], bool]
    tmp_dir: Path
    server: VendorServer | None = None

    def start(self, seconds: float = 5.0) -> str:
        """Have a vendor start the profile, and give its endpoint, to which nobody connects."""
        assert isinstance(self.provider, VendorProvider)
        return self.provider._starts.start(self.spec, time.monotonic() + seconds)

    def refusal(self, seconds: float = 5.0) -> ProviderError:
        """Have a start fail, and look at how that is said."""
        with pytest.raises(ProviderError) as caught:
            self.start(seconds)
        return checked(self, caught.value)

    @property
    def target(self) -> str:
        return str(self.spec.folder or self.spec.endpoint)


@pytest.fixture(autouse=True)
def _impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (vendor_start, vendor_stop):
        monkeypatch.setattr(module, "THROTTLE_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(vendor_start, "PREPARING_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(vendor_start, "ENDPOINT_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(cdp, "CONNECT_PAUSE_SECONDS", 0.02)


@pytest.fixture
def environment() -> dict[str, str]:
    return {
        "NIGHTSHIFT_MULTILOGIN_EMAIL": EMAIL,
        "NIGHTSHIFT_MULTILOGIN_PASSWORD": PASSWORD,
        "NIGHTSHIFT_NSTBROWSER_API_KEY": API_KEY,
        "NIGHTSHIFT_BROWSERBASE_API_KEY": API_KEY,
        "NIGHTSHIFT_GOLOGIN_CLOUD_TOKEN": TOKEN,
    }


@pytest.fixture
def make_world(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[[str], World]]:
    ends: list[Callable[[], None]] = []

    def make(name: str, *, bare: bool = False, **options: str) -> World:
        tmp_dir = tmp_path / "worker-0"
        browser_options = BrowserOptions(tmp_dir=tmp_dir, executable=find_browser())
        options = {"folder_id": "the-folder", **options}
        spec = ProfileSpec(1, name, vendor_id="p-1", options=options)
        server = None
        if name == "local":
            folder = tmp_path / "profile"
            spec = dataclasses.replace(spec, folder=folder)
            is_running = lambda: bool(profile_lock.browsers_using(folder))  # noqa: E731
        elif name == "cdp":
            browser = DebugBrowser(tmp_path / "other")
            ends.append(browser.stop)
            spec = dataclasses.replace(spec, endpoint=str(browser.port))
            is_running = lambda: browser.is_running  # noqa: E731
        else:
            browser = NoBrowser if bare else DebugBrowser
            server = VendorServer(DIALECTS[name], tmp_path, browser=browser)
            ends.append(server.close)
            spec = dataclasses.replace(spec, endpoint=server.url)
            environment["NIGHTSHIFT_MULTILOGIN_API_URL"] = server.url
            environment["NIGHTSHIFT_GOLOGIN_CLOUD_CONNECT_URL"] = f"ws://127.0.0.1:{server.port}/"
            is_running = lambda: server.is_running("p-1")  # noqa: E731
        provider = Providers(browser_options, environment).get(name)
        if server is not None:
            # The presets' intervals are meant for real vendors; test_pace.py is about them.
            hasty = dataclasses.replace(
                load_preset(name), min_interval_seconds=0.0, restart_pause_seconds=0.0
            )
            provider = VendorProvider(VendorApi(hasty, environment, tmp_path))
        ends.append(lambda: provider.stop(spec) if name == "local" else None)
        return World(name, provider, spec, is_running, tmp_dir, server)

    yield make
    for end in reversed(ends):
        end()


@pytest.fixture(params=["local", "cdp", *VENDORS])
def world(request: pytest.FixtureRequest, make_world) -> World:
    return make_world(request.param)


@pytest.fixture(params=VENDORS)
def vendor_world(request: pytest.FixtureRequest, make_world) -> World:
    """A vendor whose browsers only say where they would listen: nobody gets to connect."""
    return make_world(request.param, bare=True)


@pytest.fixture
def open_profile(session) -> Iterator[Callable[[World], OpenedProfile]]:
    opened: list[tuple[World, OpenedProfile]] = []

    def open_it(world: World) -> OpenedProfile:
        profile = world.provider.open(session._engine.playwright, world.spec)
        opened.append((world, profile))
        return profile

    yield open_it
    for world, profile in opened:
        world.provider.close(profile, attempt)


def failure_of(world: World, session) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        world.provider.open(session._engine.playwright, world.spec)
    return checked(world, caught.value)


def checked(world: World, error: ProviderError) -> ProviderError:
    """See that an error is one clear line that gives no secret away."""
    assert error.provider == world.name
    assert "\n" not in str(error)
    assert len(str(error)) < 500
    assert not any(secret in str(error) for secret in SECRETS)
    return error
