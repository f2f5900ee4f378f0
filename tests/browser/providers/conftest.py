"""Every provider with a profile of its own, on loopback."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.debug_browser import DebugBrowser
from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import EMAIL, PASSWORD, PASSWORD_MD5, TOKEN, VendorServer
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers import cdp, profile_lock, vendor
from worker.browser.providers.preset import load_preset, preset_names
from worker.browser.providers.provider import OpenedProfile, Provider, attempt
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor import VendorProvider
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError

VENDORS = preset_names()
SECRETS = (EMAIL, PASSWORD, PASSWORD_MD5, TOKEN)


@dataclass
class World:
    """A provider, a profile of it, and a view from outside on whether its browser runs."""

    name: str
    provider: Provider
    spec: ProfileSpec
    is_running: Callable[[], bool]
    tmp_dir: Path
    server: VendorServer | None = None

    @property
    def target(self) -> str:
        return str(self.spec.folder or self.spec.endpoint)


@pytest.fixture(autouse=True)
def _impatience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vendor, "THROTTLE_PAUSE_SECONDS", 0.02)
    monkeypatch.setattr(cdp, "CONNECT_PAUSE_SECONDS", 0.02)


@pytest.fixture
def environment() -> dict[str, str]:
    return {
        "NIGHTSHIFT_MULTILOGIN_EMAIL": EMAIL,
        "NIGHTSHIFT_MULTILOGIN_PASSWORD": PASSWORD,
    }


@pytest.fixture
def make_world(tmp_path: Path, environment: dict[str, str]) -> Iterator[Callable[[str], World]]:
    ends: list[Callable[[], None]] = []

    def make(name: str) -> World:
        tmp_dir = tmp_path / "worker-0"
        options = BrowserOptions(tmp_dir=tmp_dir, executable=find_browser())
        spec = ProfileSpec(1, name, vendor_id="p-1", options={"folder_id": "the-folder"})
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
            server = VendorServer(DIALECTS[name], tmp_path)
            ends.append(server.close)
            spec = dataclasses.replace(spec, endpoint=server.url)
            environment["NIGHTSHIFT_MULTILOGIN_API_URL"] = server.url
            is_running = lambda: server.is_running("p-1")  # noqa: E731
        provider = Providers(options, environment).get(name)
        if server is not None:
            # The presets' intervals are meant for real vendors; test_pace.py is about them.
            hasty = dataclasses.replace(load_preset(name), min_interval_seconds=0.0)
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
    return make_world(request.param)


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
    assert caught.value.provider == world.name
    assert "\n" not in str(caught.value)
    assert not any(secret in str(caught.value) for secret in SECRETS)
    return caught.value
