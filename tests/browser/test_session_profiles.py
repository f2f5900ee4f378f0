"""A session's profile and proxy: pages, limits and evidence are theirs, and nothing is left."""

from __future__ import annotations

import base64
import json
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.browser.conftest import wait_for_page_error
from tests.browser.debug_browser import DebugBrowser
from tests.browser.recording_proxy import RecordingProxy
from tests.browser.vendor_dialects import DIALECTS
from tests.browser.vendor_server import VendorServer
from tests.capturing import capture
from worker.browser.providers import profile_lock
from worker.browser.providers.spec import ProfileSpec
from worker.errors import ProviderError, SettingsError
from worker.proxies.proxy import Proxy
from worker.system import process_tree


@pytest.fixture
def local(session, tmp_path: Path) -> Iterator[ProfileSpec]:
    yield ProfileSpec(7, "local", folder=tmp_path / "profile")
    session.close_profile()


@pytest.fixture
def vendor(session, tmp_path: Path) -> Iterator[VendorServer]:
    server = VendorServer(DIALECTS["gologin"], tmp_path)
    yield server
    session.close_profile()
    server.close()


@pytest.fixture
def foreign(session, tmp_path: Path) -> Iterator[DebugBrowser]:
    browser = DebugBrowser(tmp_path / "foreign")
    yield browser
    session.close_profile()
    browser.stop()


@pytest.fixture
def proxy(session) -> Iterator[RecordingProxy]:
    server = RecordingProxy("night", "s:h@ft/secret")
    yield server
    session.close_profile()
    session.use_proxy(None)
    server.close()


def test_a_profiles_jobs_see_what_the_last_one_left(session, site, local):
    titles = []
    for _ in range(2):
        session.open_profile(local)
        page = session.page_for_job()
        page.goto(site.url("/counting"))
        titles.append(page.title())
        session.release(clean=True)
        session.close_profile()

    assert [title.split(",")[0] for title in titles] == ["1", "2"]


def test_a_profiles_page_that_spins_is_stopped_and_pictured(
    session, site, local, failure, errors_dir
):
    session.open_profile(local)
    with pytest.raises(PlaywrightError):
        session.page_for_job().goto(site.url("/spinning"), timeout=1000)
    outcomes = capture(errors_dir, failure, session)
    session.release(clean=False)

    assert outcomes["screenshot"] == "ok"
    assert session.is_alive
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_the_ordinary_browser_is_untouched_by_a_profile(session, site, local):
    ordinary = session.page_for_job(isolation="page")
    driver, browser = session.processes()
    session.release(clean=True)
    session.open_profile(local)
    assert session.processes()[0] == driver
    assert session.processes()[1] != browser
    session.page_for_job().goto(site.url("/counting"))
    session.close_profile()

    assert session.processes() == (driver, browser)
    assert session.page_for_job(isolation="page") is ordinary
    assert not profile_lock.browsers_using(local.folder)


def test_popups_of_a_profiles_job_go_and_its_context_stays(session, site, local):
    session.open_profile(local)
    page = session.page_for_job()
    context = page.context
    before = len(context.pages) - 1
    with page.expect_popup():
        page.goto(site.url("/popup"))
    session.release(clean=True)

    assert len(context.pages) == before
    assert session.page_for_job(isolation="context").context is context


def test_the_second_job_of_a_profile_is_recorded_once(session, site, local):
    session.open_profile(local)
    for _ in range(2):
        page = session.page_for_job()
        page.goto(site.url("/spam"))
        wait_for_page_error(session, page)
        kinds = [entry["type"] for entry in session.recorder.console]
        assert kinds.count("pageerror") == 1
        session.release(clean=True)


def test_a_hang_in_a_local_profile_kills_its_browser_alone(session, local):
    _, ordinary = session.processes()
    session.open_profile(local)
    page = session.page_for_job()
    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.evaluate("while (true);")

    assert limit.fired
    assert not session.is_alive
    assert process_tree.is_alive(ordinary)
    session.close_profile()
    assert session.is_alive
    assert not profile_lock.browsers_using(local.folder)


def test_a_hang_in_a_vendors_profile_has_it_stopped_by_the_vendor(session, site, vendor):
    session.open_profile(ProfileSpec(8, "gologin", vendor_id="p-8", endpoint=vendor.url))
    page = session.page_for_job()
    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.evaluate("while (true);")

    assert limit.fired
    assert not vendor.is_running("p-8")
    session.close_profile()
    assert session.is_alive
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_hang_in_anothers_browser_ends_and_leaves_that_browser_alone(session, site, foreign):
    session.open_profile(ProfileSpec(9, "cdp", endpoint=foreign.ws_url))
    page = session.page_for_job()
    with session.limit(0.5) as limit, pytest.raises(PlaywrightError):
        page.evaluate("while (true);")

    assert limit.fired
    assert foreign.is_running
    session.close_profile()
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_vendors_profile_is_stopped_with_the_session(session, vendor, local):
    session.open_profile(ProfileSpec(8, "gologin", vendor_id="p-8", endpoint=vendor.url))
    session.page_for_job()
    session.close()
    assert not vendor.is_running("p-8")
    session.open_profile(local)
    everybody = [process_tree.identify(os.getpid()), *session.processes()][1:]
    session.close()

    assert process_tree.wait_dead(everybody, 10)
    assert not session.options.tmp_dir.exists()


def test_a_profile_opens_also_when_the_driver_was_killed(session, site, local):
    driver, _ = session.processes()
    os.kill(driver.pid, signal.SIGKILL)
    assert process_tree.wait_dead([driver], 10)
    session.open_profile(local)

    assert session.page_for_job().goto(site.url("/")).status == 200


def test_a_profiles_browser_that_died_is_the_providers_fault(session, local):
    session.open_profile(local)
    session.kill()
    assert process_tree.wait_dead([session.processes()[1]], 10)
    with pytest.raises(ProviderError) as caught:
        session.page_for_job()

    assert caught.value.kind == "unreachable"
    assert "profile 7 (local)" in str(caught.value)


def test_a_profile_that_does_not_open_leaves_an_ordinary_session(session, site, local):
    with pytest.raises(ProviderError):
        session.open_profile(replace(local, provider="cdp"))
    with pytest.raises(SettingsError, match="kameleo"):
        session.open_profile(replace(local, provider="no-such-vendor"))

    assert session.profile.profile_id is None
    assert session.page_for_job().goto(site.url("/")).status == 200


def test_evidence_names_profile_and_proxy_without_credentials(
    session, local, proxy, failure, errors_dir
):
    session.open_profile(replace(local, proxy=proxy.proxy))
    page = session.page_for_job(trace=True)
    # The first answer asks for the login; from then on Chromium sends it by itself.
    for _ in range(2):
        page.goto("http://shop.test/")
    capture(errors_dir, replace(failure, proxy=None), session)

    folder = errors_dir / "4729" / "2"
    report = json.loads((folder / "error.json").read_text())
    assert report["profile"] == "7"
    assert report["proxy"] == f"http://127.0.0.1:{proxy.port}"
    assert proxy.seen
    assert_secret_free(folder, proxy.proxy)


def test_a_context_goes_through_its_proxy_and_evidence_hides_the_login(
    session, site, proxy, failure, errors_dir
):
    direct = session.page_for_job()
    session.release(clean=True)
    session.use_proxy(proxy.proxy)
    page = session.page_for_job(trace=True)
    assert page.context is not direct.context
    for _ in range(2):
        page.goto("http://shop.test/a")
    assert page.title() == f"through {proxy.port}"
    assert "http://shop.test/a" in proxy.seen
    capture(errors_dir, replace(failure, proxy=None), session)
    report = json.loads((errors_dir / "4729" / "2" / "error.json").read_text())
    assert report["proxy"] == f"http://127.0.0.1:{proxy.port}"
    assert_secret_free(errors_dir, proxy.proxy)
    session.release(clean=False)

    session.use_proxy(None)
    assert session.page_for_job().goto(site.url("/")).status == 200
    assert session.proxy_label is None


def assert_secret_free(folder: Path, proxy: Proxy) -> None:
    login = base64.b64encode(f"{proxy.username}:{proxy.password}".encode())
    assert list(folder.rglob("trace.zip"))
    for path in folder.rglob("*"):
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                contents = [archive.read(name) for name in archive.namelist()]
        else:
            contents = [path.read_bytes()] if path.is_file() else []
        for content in contents:
            assert proxy.password.encode() not in content, path
            assert login not in content, path


def test_jobs_go_on_using_one_context_while_the_proxy_stays(session, proxy):
    session.use_proxy(proxy.proxy)
    first = session.page_for_job(isolation="page")
    session.release(clean=True)
    for _ in range(2):
        session.use_proxy(replace(proxy.proxy))
        # Two pages take turns.
        page = session.page_for_job(isolation="page")
        session.release(clean=True)

    assert page is first


def test_a_renewed_context_has_no_cookies(session, proxy):
    session.use_proxy(proxy.proxy)
    page = session.page_for_job()
    page.goto("http://shop.test/")
    assert page.context.cookies()
    session.release(clean=True)
    session.renew_context()

    fresh = session.page_for_job()
    deadline = time.monotonic() + 10
    while not page.is_closed() and time.monotonic() < deadline:
        # It is closed beside; the word of that comes while a call waits.
        fresh.wait_for_timeout(20)
    assert page.is_closed()
    assert fresh.context is not page.context
    assert fresh.context.cookies() == []
    fresh.goto("http://shop.test/b")
    assert fresh.title() == f"through {proxy.port}"
