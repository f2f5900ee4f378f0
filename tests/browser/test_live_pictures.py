"""Pictures of a job's page while somebody looks; no word of them to the browser otherwise."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
from playwright.sync_api import Error as PlaywrightError

from worker.browser import live_pictures
from worker.browser.providers.spec import ProfileSpec

JPEG = b"\xff\xd8\xff"


@dataclass
class Viewer:
    """Somebody who looks, or not, and what was shown to them."""

    is_looking: bool = True
    shown: list[tuple[bytes, str]] = field(default_factory=list)

    def keep(self, image: bytes, why: str) -> None:
        self.shown.append((image, why))

    @property
    def images(self) -> list[bytes]:
        return [image for image, _ in self.shown if image]


@pytest.fixture
def viewer(session, monkeypatch):
    found = Viewer()
    monkeypatch.setattr(live_pictures, "EVERY_SECONDS", 0.3)
    monkeypatch.setattr(live_pictures, "LOOK_SECONDS", 0.1)
    session.live.is_wanted = lambda: found.is_looking
    session.live.keep = found.keep
    yield found
    session.live.end()
    session.live.is_wanted = lambda: False


@pytest.fixture
def sent(session, monkeypatch):
    """What is said to a job's page over its CDP session, and which sessions are made."""
    said = []
    page_for_job = session.page_for_job

    def listening(**wishes):
        page = page_for_job(**wishes)
        devtools = session.tab.devtools
        send = devtools.send
        monkeypatch.setattr(
            devtools, "send", lambda name, *rest: said.append(name) or send(name, *rest)
        )
        make = page.context.new_cdp_session
        monkeypatch.setattr(
            page.context, "new_cdp_session", lambda *rest: said.append("session") or make(*rest)
        )
        return page

    monkeypatch.setattr(session, "page_for_job", listening)
    return said


def wait_on(page, condition, seconds=20):
    """Let the job wait in calls of its own until something has come."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        page.wait_for_timeout(50)


@pytest.mark.parametrize("isolation", ["context", "page", "worker"])
def test_a_looked_at_page_is_pictured_with_every_isolation(session, site, viewer, isolation):
    for _ in range(2):
        page = session.page_for_job(isolation=isolation, task="t")
        page.goto(site.url("/"))
        before = len(viewer.images)
        wait_on(page, lambda before=before: len(viewer.images) >= before + 2)
        session.release(clean=True)

    assert all(image.startswith(JPEG) and len(image) < 100_000 for image in viewer.images)


def test_a_profiles_page_is_pictured_too(session, site, viewer, tmp_path):
    session.open_profile(ProfileSpec(7, "local", folder=tmp_path / "profile"))
    try:
        page = session.page_for_job()
        page.goto(site.url("/"))
        wait_on(page, lambda: len(viewer.images) >= 2)
    finally:
        session.close_profile()


def test_nothing_is_asked_of_the_browser_while_nobody_looks(session, site, viewer, sent):
    viewer.is_looking = False
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.wait_for_timeout(1000)

    assert sent == []
    assert viewer.shown == []


def test_it_begins_within_a_job_and_stops_again(session, site, viewer, sent):
    viewer.is_looking = False
    page = session.page_for_job()
    page.goto(site.url("/"))
    viewer.is_looking = True
    wait_on(page, lambda: viewer.images)

    viewer.is_looking = False
    # One that is on its way may still come.
    page.wait_for_timeout(700)
    said, shown = list(sent), len(viewer.shown)
    page.wait_for_timeout(1000)

    assert sent == said
    assert len(viewer.shown) == shown
    assert said.count("Page.startScreencast") <= said.count("Page.stopScreencast")
    assert "session" not in said


def test_the_picture_is_of_the_page_as_it_is_now(session, site, viewer):
    page = session.page_for_job()
    page.goto(site.url("/"))
    page.evaluate("document.body.innerHTML = ''")
    wait_on(page, lambda: viewer.images)
    page.wait_for_timeout(1000)
    plain = len(viewer.images[-1])
    page.evaluate("""document.body.innerHTML = Array.from({length: 400},
        (_, i) => `<b style="color: hsl(${i * 37} 90% 50%)">word ${i}</b> `).join('')""")
    seen = len(viewer.images)
    wait_on(page, lambda: len(viewer.images) > seen + 1)

    assert len(viewer.images[-1]) > 2 * plain


def test_a_page_that_hangs_is_not_hurt_and_its_job_ends_as_without(
    session, site, viewer, open_busy_page
):
    page = session.page_for_job()
    open_busy_page(page)
    with session.limit(2.0) as limit, suppress(PlaywrightError):
        page.title()
    assert limit.fired

    session.release(clean=False)
    again = session.page_for_job()
    assert again.goto(site.url("/")).status == 200


def test_a_task_that_sleeps_has_its_last_picture_and_nothing_breaks(session, site, viewer):
    page = session.page_for_job()
    page.goto(site.url("/"))
    wait_on(page, lambda: viewer.images)
    seen = len(viewer.shown)
    time.sleep(1.0)

    assert len(viewer.shown) == seen
    assert page.title() == "Home"
    wait_on(page, lambda: len(viewer.shown) > seen)


def test_what_goes_wrong_with_a_picture_does_not_reach_the_job(session, site, viewer):
    def broken(image, why):
        viewer.shown.append((image, why))
        raise OSError(28, "No space left on device")

    session.live.keep = broken
    page = session.page_for_job()
    page.goto(site.url("/"))
    wait_on(page, lambda: len(viewer.shown) >= 2)

    assert page.title() == "Home"


def test_a_page_where_pages_may_not_be_is_not_shown(session, site, viewer, tmp_path):
    (tmp_path / "secret.txt").write_text("root:x:0:0")
    page = session.page_for_job()
    page.goto(site.url("/"))
    wait_on(page, lambda: viewer.images)
    # As a page that gets there by itself would.
    session.tab.devtools.send("Page.navigate", {"url": (tmp_path / "secret.txt").as_uri()})
    wait_on(page, lambda: session.guards.why_hidden)
    seen = len(viewer.shown)
    wait_on(page, lambda: len(viewer.shown) > seen + 1)

    assert viewer.shown[-1][0] == b""
    assert "may not be" in viewer.shown[-1][1]


def test_a_traced_job_has_no_picture_and_nothing_of_it_in_its_trace(session, site, viewer, sent):
    page = session.page_for_job(trace=True)
    page.goto(site.url("/"))
    wait_on(page, lambda: viewer.shown)

    assert viewer.images == []
    assert viewer.shown[-1] == (b"", live_pictures.TRACED)
    assert "Page.startScreencast" not in sent


def test_a_job_after_a_killed_browser_is_pictured_again(session, site, viewer):
    page = session.page_for_job()
    page.goto(site.url("/"))
    wait_on(page, lambda: viewer.images)
    session.kill()
    session.release(clean=False)
    seen = len(viewer.images)

    page = session.page_for_job()
    page.goto(site.url("/"))

    wait_on(page, lambda: len(viewer.images) > seen)


def test_a_job_after_a_killed_driver_is_pictured_again(session, site, viewer):
    page = session.page_for_job()
    page.goto(site.url("/"))
    wait_on(page, lambda: viewer.images)
    driver, _ = session.processes()
    os.kill(driver.pid, signal.SIGKILL)
    session.release(clean=False)
    seen = len(viewer.images)

    page = session.page_for_job()
    page.goto(site.url("/"))

    wait_on(page, lambda: len(viewer.images) > seen)


def test_short_jobs_are_pictured_now_and_then(session, site, viewer):
    deadline = time.monotonic() + 20
    while not viewer.images:
        assert time.monotonic() < deadline
        page = session.page_for_job()
        page.goto(site.url("/"))
        page.title()
        session.release(clean=True)
