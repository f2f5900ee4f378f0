"""Files come to disk only for tasks that want them, and never more than a job may write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks import page_attacks
from tests.attacks.hostile_site import Answer
from tests.attacks.unasked_files import ATTACHED, CONTENT, kept, nothing_is_kept
from tests.browser.debug_browser import DebugBrowser
from worker.browser import disk_budget
from worker.browser.providers.spec import ProfileSpec
from worker.errors import PageRefused

hostile, only_session = page_attacks.hostile, page_attacks.only_session
run, session = page_attacks.run, page_attacks.session

OFFERS = {
    "frame": "<iframe src=/file></iframe>",
    "many frames": "<iframe src=/file></iframe>" * 20,
    "location": "<script>location = '/file'</script>",
    "link": "<a id=go href=/file>x</a><script>go.click()</script>",
    "link that says so": "<a id=go download href=/file>x</a><script>go.click()</script>",
    "blob": "<a id=go download=a.bin>x</a><script>"
    "go.href = URL.createObjectURL(new Blob(['unasked for '])); go.click()</script>",
    "data": "<a id=go download=a.bin href='data:x/y,unasked%20for%20you'>x</a>"
    "<script>go.click()</script>",
    "refresh": "<meta http-equiv=refresh content='0;url=/file'>",
    "popup": "<script>window.open('/file')</script>",
    "form": "<form id=go action=/file></form><script>go.submit()</script>",
}


@pytest.fixture
def offered(hostile):
    hostile.pages["/file"] = Answer(CONTENT, 200, ATTACHED)
    return hostile


@pytest.mark.parametrize("offer", OFFERS.values(), ids=OFFERS)
def test_what_a_page_offers_unasked_is_not_kept(run, session, offered, offer):
    url = offered.show("/offer", offer)

    def visit(page):
        page.goto(url, wait_until="commit")
        page.wait_for_timeout(250)

    assert run(visit) == "null"
    nothing_is_kept(session.options.tmp_dir)


def test_a_page_that_is_a_file_ends_the_job_and_says_what_to_do(run, session, offered):
    with pytest.raises(PageRefused, match=r"downloads are refused unless .*downloads=True"):
        run(lambda page: page.goto(offered.url("/file")))

    nothing_is_kept(session.options.tmp_dir)


def test_a_task_that_waits_for_a_file_learns_what_to_say(run, offered):
    url = offered.show("/offer", "<a id=go href=/file>x</a>")

    def download(page):
        page.goto(url)
        with page.expect_download() as found:
            page.click("#go")
        return found.value.path()

    with pytest.raises(PageRefused, match=r"/file is a file to download; .*downloads=True"):
        run(download)


def test_a_task_that_wants_files_gets_them_and_they_go_with_its_job(run, session, offered):
    url = offered.show("/offer", "<a id=go href=/file>x</a>")

    def download(page):
        page.goto(url)
        with page.expect_download() as found:
            page.click("#go")
        return len(Path(found.value.path()).read_bytes())

    assert json.loads(run(download, downloads=True)) == len(CONTENT)
    assert kept(session.options.tmp_dir)
    session.release(clean=True)
    assert kept(session.options.tmp_dir) == []
    with pytest.raises(PageRefused):
        run(download)


def test_a_profile_keeps_no_unasked_file_either(run, session, offered, tmp_path):
    url = offered.show("/offer", OFFERS["frame"] + OFFERS["link that says so"])
    session.open_profile(ProfileSpec(7, "local", folder=tmp_path / "profile"))

    def visit(page):
        page.goto(url, wait_until="commit")
        page.wait_for_timeout(400)

    try:
        run(visit)
        nothing_is_kept(session.options.tmp_dir, tmp_path)
    finally:
        session.close_profile()


def test_a_browser_that_runs_elsewhere_keeps_no_unasked_file(run, session, offered, tmp_path):
    url = offered.show("/offer", OFFERS["frame"] + OFFERS["link that says so"])
    foreign = DebugBrowser(tmp_path / "foreign")
    session.open_profile(ProfileSpec(8, "cdp", endpoint=f"http://127.0.0.1:{foreign.port}"))

    def visit(page):
        page.goto(url, wait_until="commit")
        page.wait_for_timeout(400)

    try:
        run(visit)
        nothing_is_kept(session.options.tmp_dir, tmp_path)
    finally:
        session.close_profile()
        foreign.stop()


def test_a_job_that_writes_too_much_ends_and_its_files_are_gone(run, session, hostile, monkeypatch):
    monkeypatch.setattr(session.guards.disk, "_megabytes", 5)
    hostile.pages["/big"] = Answer(b"x" * 30_000_000, 200, ATTACHED)
    url = hostile.show("/offer", "<iframe src=/big></iframe>")

    def wait(page):
        page.goto(url, wait_until="commit")
        page.wait_for_timeout(15_000)

    with pytest.raises(PageRefused, match=r"has written \d+ MB to disk, the limit is 5 MB"):
        run(wait, downloads=True)
    session.release(clean=False)

    assert disk_budget.size_of(session.options.tmp_dir) < 5_000_000
    # And the next job has a browser again.
    assert run(lambda page: page.goto("about:blank")) == "null"


def test_what_an_earlier_job_left_is_not_held_against_the_next(run, session, hostile, monkeypatch):
    monkeypatch.setattr(session.guards.disk, "_megabytes", 5)
    left = session.options.tmp_dir / "left"
    left.write_bytes(b"x" * 20_000_000)

    def wait(page):
        page.wait_for_timeout(3 * disk_budget.LOOK_SECONDS * 1000)

    assert run(wait) == "null"
    left.unlink()


def test_a_worker_that_met_a_flood_goes_on(launch, queue, hostile, tmp_path):
    tasks = tmp_path / "flood.py"
    tasks.write_text(
        "from worker import task\n"
        '@task("flood", downloads=True)\n'
        "def flood(page, payload, job):\n"
        '    page.goto(payload["url"], wait_until="commit")\n'
        "    page.wait_for_timeout(20_000)\n"
    )
    hostile.pages["/big"] = Answer(b"x" * 30_000_000, 200, ATTACHED)
    url = hostile.show("/offer", "<iframe src=/big></iframe>")
    flood = queue.enqueue("flood", {"url": url})
    fine = queue.enqueue("visit", {"url": hostile.show("/fine", "fine")})

    run = launch("--workers", 1, "--tasks", tasks, "--job-disk-mb", 5, "--retry-delay", "1s")
    assert run.wait(60) == 0

    (attempt,) = queue.history(flood)
    assert (attempt["outcome"], attempt["cause"]) == ("error", "code")
    assert "the limit is 5 MB; download less, or raise --job-disk-mb" in attempt["reason"]
    assert queue.get(fine)["status"] == "done"
    assert [path for path in tmp_path.rglob("*") if path.stat().st_size > 5_000_000] == []
