"""What every provider promises: a page that works, an end that ends, and errors with a kind."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.browser.vendor_server import (
    DIALECTS,
    EMAIL,
    PASSWORD,
    PASSWORD_MD5,
    TOKEN,
    DebugBrowser,
    Reply,
    VendorServer,
)
from worker.browser.options import BrowserOptions, find_browser
from worker.browser.providers import cdp, profile_lock, vendor
from worker.browser.providers.preset import load_preset, preset_names
from worker.browser.providers.provider import OpenedProfile, Provider, attempt
from worker.browser.providers.registry import Providers
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor import VendorProvider
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError

REPO = Path(__file__).parents[2]
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


def test_its_page_can_be_used(world, open_profile, site):
    opened = open_profile(world)
    page = opened.context.new_page()
    page.goto(site.url("/"))

    assert page.title() == "Home"
    assert opened.is_alive
    assert opened.is_ours == (world.name == "local")


def test_closing_stops_the_browser_unless_it_is_somebody_elses(world, open_profile, site):
    opened = open_profile(world)
    opened.context.new_page().goto(site.url("/"))
    assert world.is_running()
    world.provider.close(opened, attempt)

    assert world.is_running() == (world.name == "cdp")
    assert not opened.is_alive


def test_a_login_lasts_from_one_opening_to_the_next(world, open_profile, site):
    opened = open_profile(world)
    page = opened.context.new_page()
    page.goto(site.url("/"))
    page.evaluate("document.cookie = 'login=yes; Max-Age=10000'")
    page.evaluate("localStorage.login = 'yes'")
    page.close()
    world.provider.close(opened, attempt)

    page = open_profile(world).context.new_page()
    page.goto(site.url("/"))
    assert "login=yes" in page.evaluate("document.cookie")
    assert page.evaluate("localStorage.login") == "yes"


def test_it_is_stopped_after_its_worker_was_killed(
    world, environment, open_profile, site, wait_until
):
    holder = subprocess.Popen(
        [
            *(sys.executable, "-m", "tests.browser.profile_holder"),
            *(world.name, world.target, str(world.tmp_dir)),
        ],
        cwd=REPO,
        env={**os.environ, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        assert world.is_running()
        holder.kill()
    world.provider.stop(world.spec)
    world.provider.stop(world.spec)

    wait_until(lambda: world.is_running() == (world.name == "cdp"))
    page = open_profile(world).context.new_page()
    page.goto(site.url("/"))
    assert page.title() == "Home"


def test_stopping_what_does_not_run_is_fine(world):
    world.provider.stop(world.spec)
    world.provider.stop(world.spec)


def test_killing_ends_the_browser_without_playwright(world, open_profile, wait_until):
    opened = open_profile(world)
    world.provider.kill(opened)

    wait_until(lambda: world.is_running() == (world.name == "cdp"))


def test_a_profile_that_runs_already_is_started_anew(vendor_world, open_profile, site):
    vendor_world.server.start_profile("p-1")
    page = open_profile(vendor_world).context.new_page()
    page.goto(site.url("/"))

    assert page.title() == "Home"
    assert vendor_world.server.count("start") == 2
    assert vendor_world.server.count("stop") == 1


def test_a_profile_that_cannot_be_stopped_is_already_running(vendor_world, session, monkeypatch):
    monkeypatch.setattr(vendor, "STOPPING_SECONDS", 0.1)
    vendor_world.server.start_profile("p-1")
    vendor_world.server.deaf_stop = True

    assert failure_of(vendor_world, session).kind == "already_running"
    assert vendor_world.server.count("start") == 2


def test_a_profile_that_takes_its_time_to_stop_is_waited_for(make_world, open_profile):
    world = make_world("kameleo")
    world.server.start_profile("p-1")
    world.server.slow_stop_looks = 2

    assert open_profile(world).is_alive
    assert world.server.count("start") == 2
    assert world.server.count("status") == 3


def test_a_throttled_start_is_tried_again(vendor_world, open_profile):
    vendor_world.server.throttle = vendor.THROTTLE_TRIES - 1
    assert open_profile(vendor_world).is_alive


def test_too_much_throttling_is_said_so(vendor_world, session):
    vendor_world.server.throttle = 1000
    error = failure_of(vendor_world, session)

    assert error.kind == "throttled"
    assert error.retry_after
    assert vendor_world.server.count("start") == vendor.THROTTLE_TRIES
    assert vendor_world.server.count("stop") == 0


def test_a_vendor_that_does_not_answer_is_unreachable(vendor_world, session):
    vendor_world.server.close()
    error = failure_of(vendor_world, session)

    assert error.kind == "unreachable"
    if vendor_world.name != "multilogin":
        assert load_preset(vendor_world.name).url_variable in str(error)


def test_a_dead_endpoint_is_unreachable_and_the_profile_stopped(vendor_world, session):
    vendor_world.server.dead_endpoint = True

    assert failure_of(vendor_world, session).kind == "unreachable"
    assert vendor_world.server.count("stop") == 1
    assert not vendor_world.is_running()


def test_an_answer_that_is_not_understood_leaves_the_profile_stopped(vendor_world, session):
    vendor_world.server.nonsense = True

    assert failure_of(vendor_world, session).kind == "bad_answer"
    assert not vendor_world.is_running()


def test_a_cdp_endpoint_where_nobody_listens_is_unreachable(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint="127.0.0.1:1")

    assert failure_of(world, session).kind == "unreachable"


def test_a_cdp_profile_without_an_endpoint_says_what_to_give(make_world, session):
    world = make_world("cdp")
    world.spec = dataclasses.replace(world.spec, endpoint=None)

    assert "http://127.0.0.1:9222" in str(failure_of(world, session))


def test_a_local_profile_in_use_is_never_opened_twice(make_world, open_profile, session):
    world = make_world("local")
    opened = open_profile(world)
    error = failure_of(world, session)

    assert error.kind == "already_running"
    assert f"process {opened.process.pid} " in str(error)
    assert opened.is_alive


def test_multilogin_signs_in_once_and_again_when_its_token_has_expired(make_world, open_profile):
    world = make_world("multilogin")
    world.provider.close(open_profile(world), attempt)
    assert world.server.calls == ["sign_in", "start", "stop"]
    assert world.server.authorizations[1:] == [f"Bearer {TOKEN}"] * 2
    world.server.expired_tokens = 1

    assert open_profile(world).is_alive
    assert world.server.calls[3:] == ["start", "sign_in", "start"]


def test_wrong_credentials_are_refused_without_being_repeated(make_world, environment, session):
    environment["NIGHTSHIFT_MULTILOGIN_PASSWORD"] = "not-hunter2"
    error = failure_of(make_world("multilogin"), session)

    assert error.kind == "refused"
    assert "NIGHTSHIFT_MULTILOGIN_PASSWORD" in str(error)
    assert "not-hunter2" not in str(error)


def test_a_vendor_that_repeats_our_credentials_is_not_quoted_with_them(make_world, session):
    world = make_world("multilogin")
    said = f"no seat left for {EMAIL} / {PASSWORD}, Bearer {TOKEN}\nline two"
    world.server.refusal = Reply(402, {"status": {"message": said}})
    error = failure_of(world, session)

    assert error.kind == "refused"
    assert "no seat left for" in str(error)
    assert world.server.count("stop") == 0


def test_credentials_that_are_not_set_are_asked_for(make_world, environment, session):
    del environment["NIGHTSHIFT_MULTILOGIN_EMAIL"]
    error = failure_of(make_world("multilogin"), session)

    assert "NIGHTSHIFT_MULTILOGIN_EMAIL is not set" in str(error)
