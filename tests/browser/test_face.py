"""What a site sees of a browser, in headers and in scripts, for ordinary jobs and for profiles."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.browser.face_site import FaceSite
from worker.browser.browser_version import version_of
from worker.browser.face import Face
from worker.browser.options import find_browser
from worker.browser.providers.spec import ProfileSpec

PLACES = ("page", "frame", "worker", "shared", "service", "popup")


@pytest.fixture(scope="module")
def face_site() -> Iterator[FaceSite]:
    site = FaceSite()
    yield site
    site.close()


@pytest.fixture
def version(session) -> int:
    found = version_of(session.options)
    assert found is not None
    return found.major


@pytest.fixture
def berlin(version) -> Face:
    return Face("Europe/Berlin", "de-DE", "linux", (1280, 720), version)


@pytest.fixture
def seen_of(session, face_site, tmp_path):
    """Open a local profile with a face, visit the site in it, close it again."""

    def visit(name: str, face: Face) -> dict:
        session.open_profile(ProfileSpec(name, "local", folder=tmp_path / name, face=face))
        seen = face_site.visit(session.page_for_job())
        session.close_profile()
        return seen

    yield visit
    session.close_profile()


def versions_in(header: str) -> dict[str, str]:
    return dict(re.findall(r'"([^"]+)";v="([^"]+)"', header))


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_an_ordinary_job_looks_like_an_ordinary_browser_of_its_version(
    session, face_site, version, isolation
):
    for _ in range(2):
        seen = face_site.visit(session.page_for_job(isolation=isolation, task="t"))
        session.release(clean=True)

        assert "Headless" not in json.dumps(seen)
        for headers in seen["headers"].values():
            assert f" Chrome/{version}.0.0.0 " in headers["user-agent"]
        assert versions_in(seen["headers"]["/"]["sec-ch-ua"])["Chromium"] == str(version)
        for place in PLACES:
            told = seen["scripts"][place]
            assert told["userAgent"] == seen["headers"]["/"]["user-agent"]
            brands = {each["brand"]: each["version"] for each in told["brands"]}
            assert brands == versions_in(seen["headers"]["/"]["sec-ch-ua"])


def test_its_client_hints_are_the_browsers_own_but_for_one_brand(session, face_site, version):
    bare = session.page_for_job().context.browser.browser_type.launch(
        executable_path=find_browser(), chromium_sandbox=os.geteuid() != 0
    )
    own = face_site.visit(bare.new_page())["scripts"]["page"]["hints"]
    bare.close()
    shown = face_site.visit(session.page_for_job())["scripts"]["page"]["hints"]

    for name in ("brands", "fullVersionList"):
        own[name] = sorted(
            (each["brand"], each["version"]) for each in own[name] if "Headless" not in str(each)
        )
        shown[name] = sorted((each["brand"], each["version"]) for each in shown[name])
    assert shown == own


def test_a_task_that_opens_a_context_of_its_own_gets_what_it_asks_for(session, face_site):
    browser = session.page_for_job().context.browser
    plain = browser.new_context(locale="fr-FR", viewport={"width": 800, "height": 600})
    seen = face_site.visit(plain.new_page())
    other = browser.new_context(user_agent="Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0")
    disguised = face_site.visit(other.new_page())

    assert seen["scripts"]["page"]["languages"] == ["fr-FR"]
    assert seen["scripts"]["window"] == {"screen": [800, 600], "inner": [800, 600]}
    assert "Headless" not in json.dumps(seen)
    assert disguised["headers"]["/"]["user-agent"].endswith("Firefox/150.0")
    assert "Headless" not in json.dumps(disguised)


def test_a_profile_shows_the_same_face_at_every_launch(seen_of, berlin, version):
    first, second = seen_of("p1", berlin), seen_of("p1", berlin)

    assert first["scripts"] == second["scripts"]
    # At its second visit a browser knows which hints the site wants, and sends them at once.
    for path in first["headers"].keys() & second["headers"].keys():
        then, now = first["headers"][path], second["headers"][path]
        assert {name: now[name] for name in then} == then
    for place in PLACES:
        told = first["scripts"][place]
        assert told["languages"] == ["de-DE", "de", "en"]
        assert (told["timeZone"], told["locale"]) == ("Europe/Berlin", "de-DE")
        assert told["userAgent"] == berlin.user_agent
        assert told["platform"] == "Linux x86_64"
        assert {"brand": "Chromium", "version": str(version)} in told["brands"]
    for headers in first["headers"].values():
        assert headers["accept-language"] == "de-DE,de;q=0.9,en;q=0.8"
        assert headers["user-agent"] == berlin.user_agent
    assert first["scripts"]["window"] == {"screen": [1440, 900], "inner": [1280, 720]}
    assert "Headless" not in json.dumps(first)


def test_profiles_of_two_regions_differ(seen_of, berlin):
    york = replace(berlin, timezone="America/New_York", locale="en-US", viewport=(1600, 800))
    here, there = seen_of("p1", berlin), seen_of("p2", york)

    assert there["headers"]["/"]["accept-language"] == "en-US,en;q=0.9"
    told = there["scripts"]["page"]
    assert (told["timeZone"], told["languages"]) == ("America/New_York", ["en-US", "en"])
    assert there["scripts"]["window"] == {"screen": [1680, 1050], "inner": [1600, 800]}
    assert here["headers"] != there["headers"]


def test_a_version_that_a_profile_has_shown_is_shown_everywhere(seen_of, berlin, version):
    newer = replace(berlin, version=version + 3)
    seen = seen_of("p1", newer)

    for place in PLACES:
        told = seen["scripts"][place]
        assert f" Chrome/{version + 3}.0.0.0 " in told["userAgent"]
        assert {"brand": "Chromium", "version": str(version + 3)} in told["brands"]
    for path in ("/", "/frame", "/popup"):
        hints = seen["headers"][path]
        assert versions_in(hints["sec-ch-ua"])["Chromium"] == str(version + 3)


def test_another_system_is_named_alike_in_user_agent_and_hints(seen_of, berlin):
    told = seen_of("p1", replace(berlin, system="windows"))["scripts"]["page"]

    assert "(Windows NT 10.0; Win64; x64)" in told["userAgent"]
    assert told["platform"] == "Win32"
    hints = told["hints"]
    assert (hints["platform"], hints["platformVersion"]) == ("Windows", "10.0.0")


def test_a_task_in_a_profile_that_opens_another_context_keeps_the_face(
    session, face_site, tmp_path, berlin
):
    session.open_profile(ProfileSpec("p1", "local", folder=tmp_path / "p1", face=berlin))
    browser = session.page_for_job().context.browser
    assert browser is not None
    seen = face_site.visit(browser.new_context().new_page())
    session.close_profile()

    told = seen["scripts"]["page"]
    assert told["userAgent"] == berlin.user_agent
    assert (told["timeZone"], told["languages"]) == ("Europe/Berlin", ["de-DE", "de", "en"])
    assert seen["scripts"]["window"]["screen"] == [1440, 900]
