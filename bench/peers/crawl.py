"""Crawlee's side of `bench.pages`: load a page and read its title, as its guide shows it.

For each line `URL PAGES CONCURRENCY` on stdin it crawls so many pages at a fixed concurrency, and
answers with pages per second, its start-up and first pages left out. All pages share a context.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import os
import sys
import time

from crawlee import ConcurrencySettings
from crawlee.crawlers import PlaywrightCrawler, PlaywrightCrawlingContext
from crawlee.storage_clients import MemoryStorageClient

WARM_UP_PAGES = 4
# Crawlers of one process share their queue, which takes no address twice.
NUMBERS = itertools.count()


async def crawl(url: str, pages: int, concurrency: int) -> float:
    """Crawl so many pages; return pages per second."""
    ends: list[float] = []
    title = os.environ["BENCH_TITLE"]
    crawler = PlaywrightCrawler(
        browser_type="chromium",
        headless=True,
        browser_launch_options={
            "executable_path": os.environ["BENCH_BROWSER"],
            "chromium_sandbox": os.geteuid() != 0,
        },
        concurrency_settings=ConcurrencySettings(
            min_concurrency=concurrency,
            max_concurrency=concurrency,
            desired_concurrency=concurrency,
        ),
        # Its own default keeps all on disk, which takes longer.
        storage_client=MemoryStorageClient(),
        max_request_retries=0,
        configure_logging=False,
    )

    @crawler.router.default_handler
    async def handle(context: PlaywrightCrawlingContext) -> None:
        found = await context.page.title()
        if found != title:
            raise RuntimeError(f"the page is titled {found!r}, not {title!r}")
        ends.append(time.monotonic())

    numbers = itertools.islice(NUMBERS, pages + WARM_UP_PAGES)
    await crawler.run([f"{url}?n={number}" for number in numbers])
    if len(ends) != pages + WARM_UP_PAGES:
        raise RuntimeError(f"{len(ends)} of {pages + WARM_UP_PAGES} pages were loaded")
    return pages / (ends[-1] - ends[WARM_UP_PAGES - 1])


async def main() -> None:
    """Answer line by line until there is no more."""
    logging.disable(logging.WARNING)
    while line := await asyncio.to_thread(sys.stdin.readline):
        url, pages, concurrency = line.split()
        print(await crawl(url, int(pages), int(concurrency)), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
