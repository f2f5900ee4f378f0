"""A context that a task opens by itself is no way round the rules of its job."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks import page_attacks
from tests.attacks.hostile_site import Answer
from tests.attacks.unasked_files import ATTACHED, CONTENT, nothing_is_kept
from tests.browser.debug_browser import DebugBrowser
from worker.browser.providers.spec import ProfileSpec
from worker.errors import PageRefused

evidence_of, failure, hostile = (
    page_attacks.evidence_of,
    page_attacks.failure,
    page_attacks.hostile,
)
only_session, run, session = page_attacks.only_session, page_attacks.run, page_attacks.session

TEXT = "what only this machine should know"
ISOLATIONS = ("context", "page", "worker")


def popup_of(page):
    with page.expect_popup() as popup:
        page.evaluate("void window.open('about:blank')")
    return popup.value


def frame_of(page):
    page.set_content("<iframe name=child></iframe>")
    return page.frame("child")


# Each opens something of its own and returns it.
WAYS = {
    "a context": lambda browser: browser.new_context().new_page(),
    "a context that wants files": lambda browser: browser.new_context(
        accept_downloads=True
    ).new_page(),
    "a page": lambda browser: browser.new_page(),
    "a page's main frame": lambda browser: browser.new_page().main_frame,
    "a frame": lambda browser: frame_of(browser.new_page()),
    "a context's second page": lambda browser: [
        (context := browser.new_context()).new_page(),
        context.new_page(),
    ][1],
    "a context's popup": lambda browser: popup_of(browser.new_context().new_page()),
    "a page's popup": lambda browser: popup_of(browser.new_page()),
}
TARGETS = ("file://{file}", "view-source:file://{file}", "chrome://version")


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(TEXT)
    return path


@pytest.fixture
def offered(hostile):
    hostile.pages["/file"] = Answer(CONTENT, 200, ATTACHED)
    return hostile


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_opens_no_file(run, secret, evidence_of, way, target):
    with pytest.raises(PageRefused, match="is not opened: pages may go to http, https"):
        run(lambda page: way(page.context.browser).goto(target.format(file=secret)))

    assert TEXT.encode() not in evidence_of()


@pytest.mark.parametrize("isolation", ISOLATIONS)
def test_a_kept_tab_is_no_way_round_either(run, session, secret, isolation):
    for _ in range(2):
        with pytest.raises(PageRefused):
            run(
                lambda page: page.context.browser.new_page().goto(f"file://{secret}"),
                isolation=isolation,
            )
        assert run(lambda page: page.context.browser.new_page().url, isolation=isolation)
        session.release(clean=True)


@pytest.mark.parametrize("opens", ["new_context", "new_page"])
def test_what_got_there_by_force_is_not_a_result(run, session, secret, evidence_of, opens):
    def force(page):
        other = getattr(page.context.browser, opens)()
        other = other.new_page() if opens == "new_context" else other
        devtools = other.context.new_cdp_session(other)
        devtools.send("Page.navigate", {"url": f"file://{secret}"})
        other.wait_for_url("file:**")
        return other.inner_text("body")

    with pytest.raises(PageRefused):
        run(force)
    assert TEXT.encode() not in evidence_of()

    # It is that job's fault and no other's.
    session.release(clean=True)
    assert run(lambda page: page.goto("about:blank")) == "null"


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_keeps_no_file(run, session, offered, way):
    url = offered.show("/offer", "<iframe src=/file></iframe><a id=go download href=/file>x</a>")

    def visit(page):
        other = way(page.context.browser)
        other.goto(url, wait_until="commit")
        other.locator("#go").click()
        other.wait_for_timeout(250)

    run(visit)
    nothing_is_kept(session.options.tmp_dir)


def download(page, **options):
    other = page.context.browser.new_context(**options).new_page()
    other.goto(page.url)
    with other.expect_download() as found:
        other.click("#go")
    return len(Path(found.value.path()).read_bytes())


def test_a_task_that_waits_for_a_file_there_learns_what_to_say(run, offered):
    url = offered.show("/offer", "<a id=go href=/file>x</a>")

    with pytest.raises(PageRefused, match=r"/file is a file to download; .*downloads=True"):
        run(lambda page: page.goto(url) and download(page, accept_downloads=True))


def test_a_task_that_may_have_more_has_it_there_too(run, session, offered, secret):
    url = offered.show("/offer", "<a id=go href=/file>x</a>")

    def read(page):
        other = page.context.browser.new_page()
        other.goto(f"file://{secret}")
        return other.inner_text("body")

    assert json.loads(run(read, schemes=("file",))) == TEXT
    session.release(clean=True)
    got = run(lambda page: page.goto(url) and download(page), downloads=True)
    assert json.loads(got) == len(CONTENT)
    session.release(clean=True)
    nothing_is_kept(session.options.tmp_dir)


def test_in_a_browser_that_runs_elsewhere_the_same_holds(run, session, secret, tmp_path):
    foreign = DebugBrowser(tmp_path / "foreign")
    try:
        session.open_profile(ProfileSpec(8, "cdp", endpoint=f"http://127.0.0.1:{foreign.port}"))
        for opens in (
            lambda page: page.context.browser.new_page(),
            lambda page: page.context.browser.new_context().new_page(),
            # One that was there before the job.
            lambda page: page.context.pages[0],
        ):
            with pytest.raises(PageRefused):
                run(lambda page, opens=opens: opens(page).goto(f"file://{secret}"))
        browser = session.page.context.browser
        session.release(clean=True)
        assert len(browser.contexts) == 1
    finally:
        session.close_profile()
        foreign.stop()
