"""The crawl of docs/queues.md, as it stands there, on pages as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from examples.demo_site import serve
from worker.execution.rehearsal import Rehearsal
from worker.intake.dedupe_keys import MAX_DEDUPE_KEY
from worker.tasks.registry import task_of
from worker.testing import RunTask

PAGE = Path(__file__).parents[2] / "docs" / "queues.md"


@pytest.fixture(scope="module")
def shop():
    with serve() as base_url:
        yield base_url


@pytest.fixture
def crawl(session, tmp_path):
    """Run the documented task on an address; return its result and the jobs that it adds."""
    section = PAGE.read_text(encoding="utf-8").partition("\n## Crawling\n")[2]
    source = re.search(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL)[1]
    names = {}
    exec(compile(source, str(PAGE), "exec"), names)  # noqa: S102
    run_task = RunTask(Rehearsal(session, tmp_path, timeout_seconds=30.0))

    def crawl(url):
        return run_task(task_of(names["page"]), {"url": url}), run_task.follow_ups

    return crawl


def test_only_pages_of_the_same_site_are_followed_however_long_their_address_is(crawl, shop):
    result, added = crawl(f"{shop}/odd/links")
    pages = [job for job in added if job["task"] == "page"]

    assert {job["payload"]["url"] for job in pages} == {
        *(f"{shop}{path}" for path in ("/", "/orders", "/status", "/products", "/products/1")),
        *(f"{shop}/odd/links", f"{shop}/products?{'x' * 3_000}"),
    }
    assert len({job["dedupe_key"] for job in pages}) == len(pages) == result["links"]
    assert max(len(job["dedupe_key"]) for job in pages) == MAX_DEDUPE_KEY
    assert [job["task"] for job in added if job not in pages] == ["price"]


def test_the_first_page_of_a_real_shop_leads_to_all_its_pages(crawl, shop):
    _, added = crawl(shop)

    found = {job["payload"]["url"] for job in added}
    assert f"{shop}/products/1" in found
    assert all(url.startswith(shop) for url in found)
