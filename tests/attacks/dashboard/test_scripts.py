"""What strangers wrote never runs: payload, title, error text, header, group label, file name."""

from __future__ import annotations

import re
import time

import pytest

from tests.attacks.dashboard.conftest import WORDS
from tests.dashboard_site import made, served

PAGES = [
    *("/", "/live", "/errors", "/errors?muted=1", "/jobs", "/jobs?state=error", "/jobs/1"),
    *("/jobs/61", "/jobs/75", "/jobs/110", "/workers", "/runs/2", "/timeline", "/profiles"),
    *("/limits", "/audit", "/reports", "/jobs?text={words}&list=1", "/jobs?task={words}"),
    *("/jobs?group={words}", "/nowhere/{words}", "/jobs/61?attempt={words}", "/sign-in"),
    "/jobs/61/attempts/1/compare",
]


@pytest.fixture(scope="module")
def page(browser):
    context = browser.new_context()
    page = context.new_page()
    yield page
    context.close()


@pytest.mark.parametrize("path", PAGES)
def test_no_page_runs_what_a_stranger_wrote(hostile_site, page, path):
    said = []
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: said.append(dialog.message))

    page.goto(hostile_site.url + path.format(words=WORDS.replace("#", "")))

    assert page.evaluate("window.hacked") is None
    assert not [text for text in said if "Content Security Policy" in text or "refused" in text]
    assert page.locator("main img[onerror], main svg[onload]").count() == 0


@pytest.mark.parametrize("path", ["/", "/live", "/jobs/61", "/sign-in", "/nowhere"])
def test_what_gets_into_a_page_all_the_same_does_not_run(hostile_site, page, path):
    page.goto(hostile_site.url + path)

    page.evaluate("""() => {
        document.body.insertAdjacentHTML('beforeend', '<img src=x onerror="window.hacked = 1">');
        const script = document.createElement('script');
        script.textContent = 'window.hacked = 1';
        document.body.append(script);
    }""")
    # Not wait_for_function: its second look is a script of the page's, which the policy forbids.
    deadline = time.monotonic() + 10
    while not page.evaluate("[...document.images].every((image) => image.complete)"):
        assert time.monotonic() < deadline
        page.wait_for_timeout(50)

    assert page.evaluate("window.hacked") is None


@pytest.mark.parametrize(
    "path",
    [
        "/errors",
        "/jobs/61",
        "/limits",
        "/profiles",
        "/timeline",
        "/",
        "/jobs/61/attempts/1/compare",
    ],
)
def test_their_words_are_shown_as_they_are(hostile_site, path):
    text = hostile_site.client().get(path).text

    assert "&lt;script&gt;window.hacked" in text
    assert "<script>window.hacked" not in text


@pytest.mark.parametrize("path", ["/", "/timeline"])
def test_words_in_a_chart_are_only_text(server, tmp_path, path):
    with made(server, tmp_path) as site:
        site.db.run_statement(
            "UPDATE events SET name = %(words)s WHERE kind = 'breaker'", {"words": WORDS[:60]}
        )
        text = site.client().get(path).text

    drawn = "".join(re.findall(r'<svg class="chart".*?</section>', text, re.DOTALL))
    assert "breaker &lt;script&gt;" in drawn
    assert "<script>" not in drawn


def test_a_captured_page_is_inert_in_its_frame(hostile_site, page):
    asked, refused = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("requestfailed", lambda request: refused.append((request.url, request.failure)))

    page.goto(f"{hostile_site.url}/jobs/61/attempts/1/look", wait_until="networkidle")

    assert page.frames[1].url.endswith("/page/inert")
    assert page.evaluate("window.hacked") is None
    assert page.locator("iframe").get_attribute("sandbox") == ""
    # The browser tells of a request that the policy kept it from making.
    others = {url for url in asked if not url.startswith(hostile_site.url)}
    assert others
    assert others <= {url for url, _ in refused}
    assert {failure for _, failure in refused} == {"csp"}


@pytest.mark.parametrize("name", ["page", "good-page"])
def test_a_captured_page_opened_by_itself_is_inert_too(hostile_site, page, name):
    answer = page.goto(f"{hostile_site.url}/jobs/61/attempts/1/{name}/inert")

    policy = answer.headers["content-security-policy"]
    assert policy.startswith("sandbox; default-src 'none';")
    assert "allow-scripts" not in policy


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("page", "text/plain"), ("console", "text/plain"), ("error", "text/plain"),
        ("good-page", "text/plain"), ("good", "image/jpeg"),
    ],
)  # fmt: skip
def test_captured_text_is_never_sent_as_html(hostile_site, name, kind):
    answer = hostile_site.client().get(f"/jobs/61/attempts/1/{name}")

    assert answer.mimetype == kind
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")


@pytest.mark.parametrize("name", ["trace", "everything.zip"])
def test_a_trace_and_all_together_are_only_a_download(hostile_site, name):
    answer = hostile_site.client().get(f"/jobs/61/attempts/1/{name}")

    assert answer.headers["Content-Disposition"].startswith("attachment")
    assert answer.headers["Content-Security-Policy"].startswith("sandbox")


def test_a_report_with_a_hostile_name_or_script_does_nothing(server, tmp_path, browser):
    folder = tmp_path / "reports"
    folder.mkdir()
    name = "<img src=x onerror=hacked=1>.html"
    (folder / name).write_text("<title>r</title><script>document.title='ran'</script>")
    with made(server, tmp_path, reports_dir=folder) as site, served(site):
        page = browser.new_page()
        page.goto(f"{site.url}/reports")
        assert page.evaluate("window.hacked") is None
        page.get_by_role("link", name=name).click()
        assert page.title() == "r"
        page.close()


def test_a_dashboard_cannot_be_framed(hostile_site, browser, tmp_path):
    page = browser.new_page()
    (tmp_path / "evil.html").write_text(f"<iframe src='{hostile_site.url}/'></iframe>")

    page.goto((tmp_path / "evil.html").as_uri())
    page.wait_for_timeout(300)

    assert page.frames[1].locator("h1").count() == 0
    page.close()
