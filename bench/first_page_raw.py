"""What a person would write instead: start Playwright and a browser, load one page, say when."""

from __future__ import annotations

import os
import sys
import time

from playwright.sync_api import sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(
        executable_path=os.environ["BENCH_BROWSER"], chromium_sandbox=os.geteuid() != 0
    )
    page = browser.new_context().new_page()
    page.goto(sys.argv[1])
    assert page.title() == os.environ["BENCH_TITLE"]
    print(time.monotonic(), flush=True)
    browser.close()
