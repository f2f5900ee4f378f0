"""No page of a job opens this machine's files or the browser's insides, whoever tries it."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import Error as PlaywrightError

from tests.attacks import page_attacks
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

SPELLINGS = {
    "plain": "file://{file}",
    "upper case": "FILE://{file}",
    "one slash": "file:{file}",
    "with a host": "file://localhost{file}",
    "blanks before": "  \n file://{file}",
    "very many blanks before": " " * 5000 + "file://{file}",
    "a tab within": "fi\tle://{file}",
    "a newline within": "file\n://{file}",
    "a control before": "\x01file://{file}",
    "its source": "view-source:file://{file}",
    "the source of a page": "view-source:http://127.0.0.1:1/",
    "the browser's version": "chrome://version",
    # This one takes the whole browser down.
    "a page that kills": "chrome://gpu",
    "devtools": "devtools://devtools/bundled/inspector.html",
    "another about page": "about:version",
    "ftp": "ftp://127.0.0.1/",
    "a script": "javascript:document.write(1)",
    "a sandboxed file": "filesystem:http://127.0.0.1/temporary/a",
    "unknown": "nonsense:x",
}

# Everything that a page itself can try; each is a page's HTML.
LEADS = {
    "frame": "<iframe src='{file}'></iframe>",
    "frame later": "<iframe id=f></iframe><script>f.src = '{file}'</script>",
    "frame of its own making": "<iframe srcdoc=\"<iframe src='{file}'></iframe>\"></iframe>",
    "object": "<object data='{file}'></object>",
    "embed": "<embed src='{file}'>",
    "popup": "<script>window.open('{file}')</script>",
    "popup, led on": "<script>w = window.open('about:blank'); w.location = '{file}'</script>",
    "location": "<script>location.href = '{file}'</script>",
    "refresh": "<meta http-equiv=refresh content='0;url={file}'>",
    "link": "<a id=go href='{file}'>x</a><script>go.click()</script>",
    "link elsewhere": "<a id=go target=_blank href='{file}'>x</a><script>go.click()</script>",
    "form": "<form id=go action='{file}'></form><script>go.submit()</script>",
    "fetch": "<script>fetch('{file}').then(r => r.text()).then(t => document.title = t)</script>",
    "worker": "<script>new Worker('{file}')</script>",
    "style": "<link rel=stylesheet href='{file}'>",
    "blob": "<script>location = URL.createObjectURL(new Blob([\"<iframe src='{file}'></iframe>\"],"
    " {{type: 'text/html'}}))</script>",
}


@pytest.fixture
def secret(tmp_path):
    path = tmp_path / "secret.txt"
    path.write_text(TEXT)
    return path


def seen(page) -> str:
    """Everything that is to be seen in any frame of any page of the job."""
    page.wait_for_timeout(150)
    texts = []
    for each in page.context.pages:
        for frame in each.frames:
            try:
                text = frame.locator(":root").inner_text(timeout=200)
            except PlaywrightError:
                # A frame that was refused has no document to ask.
                text = ""
            texts.append(f"{frame.url} {text}")
    return "\n".join(texts)


@pytest.mark.parametrize("spelling", SPELLINGS.values(), ids=SPELLINGS)
def test_a_job_cannot_be_sent_there_by_its_payload(run, session, secret, evidence_of, spelling):
    url = spelling.format(file=secret)
    with pytest.raises(PageRefused, match="is not opened: pages may go to http, https"):
        run(lambda page: page.goto(url))

    assert session.page.url == "about:blank"
    assert TEXT.encode() not in evidence_of()


WAYS = {
    "the main frame": lambda page, url: page.main_frame.goto(url),
    "a child frame": lambda page, url: [
        page.set_content("<iframe name=child></iframe>"),
        page.frame("child").goto(url),
    ],
    "a second page": lambda page, url: page.context.new_page().goto(url),
}


def by_popup(page, url):
    with page.expect_popup() as popup:
        page.evaluate("void window.open('about:blank')")
    popup.value.goto(url)


WAYS["a popup"] = by_popup


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_no_frame_and_no_page_of_the_job_is_a_way_round(run, secret, evidence_of, way):
    with pytest.raises(PageRefused):
        run(lambda page: way(page, f"file://{secret}"))

    assert TEXT.encode() not in evidence_of()


@pytest.mark.parametrize("lead", LEADS.values(), ids=LEADS)
def test_a_page_leads_nobody_there(run, hostile, secret, evidence_of, lead):
    url = hostile.show("/lead", lead.format(file=f"file://{secret}"))

    def look(page):
        # Not until it has loaded: a refused navigation may hold that up.
        page.goto(url, wait_until="commit")
        return seen(page)

    # The job goes on: its site is a nuisance, but nothing was lost.
    assert TEXT not in run(look)
    assert TEXT.encode() not in evidence_of()


@pytest.mark.parametrize("target", ["file://{file}", "chrome://version"])
def test_a_redirect_leads_nobody_there_and_ends_the_job(run, hostile, secret, evidence_of, target):
    url = hostile.redirect("/away", target.format(file=secret))

    with pytest.raises(PageRefused, match="redirects to an address that is not opened"):
        run(lambda page: page.goto(url))
    assert TEXT.encode() not in evidence_of()


def test_a_redirect_to_a_source_shows_nothing(run, hostile, secret, evidence_of):
    url = hostile.redirect("/away", f"view-source:file://{secret}")

    with pytest.raises(PlaywrightError, match="ERR_ABORTED"):
        run(lambda page: page.goto(url))
    assert TEXT.encode() not in evidence_of()


def test_what_got_there_by_force_is_neither_a_result_nor_evidence(run, secret, evidence_of):
    def force(page):
        devtools = page.context.new_cdp_session(page)
        devtools.send("Page.navigate", {"url": f"file://{secret}"})
        page.wait_for_url("file:**")
        return page.inner_text("body")

    with pytest.raises(PageRefused):
        run(force)

    assert TEXT.encode() not in evidence_of()


def test_what_was_there_by_force_and_left_is_not_kept_either(run, hostile, secret, evidence_of):
    def force(page):
        devtools = page.context.new_cdp_session(page)
        devtools.send("Page.navigate", {"url": f"file://{secret}"})
        page.wait_for_url("file:**")
        text = page.inner_text("body")
        page.goto(hostile.show("/after", f"<p>{text}</p>"))
        return text

    with pytest.raises(PageRefused):
        run(force)

    assert TEXT.encode() not in evidence_of()


def test_a_task_may_say_that_it_reads_files(run, session, secret):
    def read(page):
        page.goto(f"file://{secret}")
        return page.inner_text("body")

    assert json.loads(run(read, schemes=("file",))) == TEXT
    session.release(clean=True)
    with pytest.raises(PageRefused):
        run(read)


@pytest.mark.parametrize(
    "url", ["about:blank", "data:text/html,<p>hello</p>", "localhost:{port}/home"]
)
def test_what_pages_may_open_is_opened(run, hostile, url):
    hostile.show("/home", "<p>hello</p>")

    assert run(lambda page: page.goto(url.format(port=hostile.port)) and None) == "null"


def test_a_profile_on_this_machine_goes_by_the_same_rules(run, session, secret, tmp_path):
    session.open_profile(ProfileSpec(7, "local", folder=tmp_path / "profile"))
    try:
        with pytest.raises(PageRefused):
            run(lambda page: page.goto(f"file://{secret}"))
    finally:
        session.close_profile()


def test_a_browser_that_runs_elsewhere_goes_by_the_same_rules(run, session, secret, tmp_path):
    foreign = DebugBrowser(tmp_path / "foreign")
    try:
        session.open_profile(ProfileSpec(8, "cdp", endpoint=f"http://127.0.0.1:{foreign.port}"))
        with pytest.raises(PageRefused):
            run(lambda page: page.goto(f"file://{secret}"))
        with pytest.raises(PageRefused):
            run(lambda page: page.context.new_page().goto(f"file://{secret}"))
    finally:
        session.close_profile()
        foreign.stop()


PRICE = """
from worker import task

@task("price")
def price(page, payload, job):
    page.goto(payload["url"])
    return {"price": page.locator("body").inner_text()}
"""


def test_a_hostile_payload_costs_one_attempt_and_tells_nobody_anything(
    launch, queue, hostile, secret, tmp_path
):
    tasks = tmp_path / "shop.py"
    tasks.write_text(PRICE)
    away = hostile.redirect("/away", f"file://{secret}")
    urls = [f"file://{secret}", f"view-source:file://{secret}", "chrome://gpu", away]
    jobs = [queue.enqueue("price", {"url": url}) for url in urls]
    fine = queue.enqueue("price", {"url": hostile.show("/fine", "12")})

    run = launch("--workers", 1, "--tasks", tasks, "--retry-delay", "1s")
    assert run.wait(60) == 0

    for job in jobs:
        row = queue.get(job)
        assert (row["status"], row["attempts"]) == ("error", 1)
        (attempt,) = queue.history(job)
        assert attempt["cause"] == "code"
        assert "is not opened: pages may go to http" in attempt["reason"]
    assert json.loads(queue.get(fine)["result"]) == {"price": "12"}
    kept = [path for path in (tmp_path / "errors").rglob("*") if path.is_file()]
    assert kept
    assert [path for path in kept if TEXT.encode() in path.read_bytes()] == []
    assert TEXT not in run.output
