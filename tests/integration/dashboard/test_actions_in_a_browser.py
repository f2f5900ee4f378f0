"""Every action in Chromium: wide and on a phone, with and without JavaScript."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.dashboard_site import made, served
from worker.browser.options import find_browser

PHONE = {"width": 390, "height": 844}


@pytest.fixture(scope="module")
def browser():
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=find_browser())
        yield found
        found.close()


@pytest.fixture(
    params=[(True, None), (False, PHONE)], ids=["wide with script", "phone without script"]
)
def acting(request, server, browser, tmp_path):
    """A night of its own, to act on; what the pages say against themselves fails the test."""
    has_script, viewport = request.param
    with made(server, tmp_path) as site, served(site):
        context = browser.new_context(java_script_enabled=has_script, viewport=viewport)
        page, said = context.new_page(), []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield site, page
        context.close()
        assert said == []


def do(
    page: Page, opener: str, button: str, said: str, *, reason: str | None = None, place: str = ""
) -> None:
    """Open a question, answer it, and read what came of it."""
    openers = page.locator(place or "body").get_by_role("button", name=opener)
    openers.first.click()
    question = page.get_by_role("dialog").filter(visible=True)
    expect(question).to_contain_text("The same: launcher.py")
    if reason is not None:
        question.get_by_label("Reason").fill(reason)
    question.get_by_role("button", name=button, exact=True).click()
    expect(page.get_by_role("status").filter(has_text=said).first).to_be_visible()


def test_groups_and_jobs(acting):
    site, page = acting
    page.goto(f"{site.url}/errors")
    do(page, "Retry 8 as canary", "Retry 8", "8 jobs put back to pending")
    do(page, "Retry all 5", "Retry all", "5 jobs put back to pending")
    invoices = "[id='g-5c20aa9100000003']"
    do(page, "Mute…", "Mute", "is muted", reason="known", place=invoices)
    page.goto(f"{site.url}/errors?muted=1")
    do(page, "Unmute…", "Unmute", "is shown again")
    page.goto(f"{site.url}/jobs/74")
    do(page, "Retry this job…", "Retry", "Job 74 is pending again")
    site.db.run_statement(
        "UPDATE work_queue SET status = 'error', finished_at = UTC_TIMESTAMP(6)"
        " WHERE id IN (73, 74)"
    )
    page.goto(f"{site.url}/jobs/74")
    do(page, "Discard…", "Discard", "in the archive", reason="no more")
    site.forget()
    page.goto(f"{site.url}/errors")
    group = "[id='g-b81e07d400000002']"
    do(page, "Discard…", "Discard", "1 job moved to the archive", reason="old", place=group)
    page.goto(f"{site.url}/jobs/{site.night.half_done}")
    done = f"Job {site.night.half_done} is pending again"
    do(page, "Retry this job…", "Do it again", done)
    page.goto(f"{site.url}/audit")
    expect(page.locator("tbody tr")).to_have_count(8)


def test_pauses_queues_and_schedules(acting):
    site, page = acting
    page.goto(f"{site.url}/workers")
    do(page, "Pause…", "Pause all", "“a look”", reason="a look")
    do(page, "Resume…", "Resume all", "Resumed.")
    expect(page.locator(".hold-note")).to_have_count(0)
    page.goto(f"{site.url}/queues")
    do(page, "Pause… queue slow", "Pause", "“slow site”", reason="slow site")
    do(page, "Resume… queue slow", "Resume", "slow")
    schedules = "section:has(#s-h)"
    do(page, "Run now…", "Add 2 jobs", "2 jobs", place=schedules)
    do(page, "Pause…", "Pause", "nightly", place=schedules)
    do(page, "Resume…", "Resume", "nightly", place=schedules)


def test_profiles_limits_and_breakers(acting):
    site, page = acting
    page.goto(f"{site.url}/profiles")
    review = "section:has(#review)"
    do(page, "Check out…", "Check out for an hour", "acme-0", reason="by hand", place=review)
    do(page, "Return…", "Return", "acme-0")
    do(page, "Quarantine…", "Quarantine", "quarantined", reason="odd", place=review)
    do(page, "Clear…", "Clear", "may be used again", reason="new password", place=review)
    page.goto(f"{site.url}/limits")
    do(page, "Close…", "Close", "is closed")
    do(page, "Remove…", "Remove", "books.example.com")
    page.get_by_role("button", name="Leave a site alone…").click()
    question = page.get_by_role("dialog").filter(visible=True)
    question.get_by_label("Site or profile").fill("site:shop.example.com")
    question.get_by_role("button", name="Leave it alone").click()
    expect(page.locator("section:has(#br)")).to_contain_text("site:shop.example.com")
