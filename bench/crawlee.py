"""Crawlee-python as a side of the page benches: in the peers' environment, with our Chromium."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from bench import peers
from bench.pages_site import TITLE
from worker.browser.options import find_browser


class Crawlee:
    """A process that crawls when it is told to."""

    def __init__(self, process: subprocess.Popen[str], url: str, concurrency: int) -> None:
        self._process = process
        self._url = url
        self._concurrency = concurrency

    def rate(self, pages: int) -> float:
        """Have so many pages loaded; return pages per second."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{self._url} {pages} {self._concurrency}\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError("Crawlee loads no pages; see above")
        return float(answer)


@contextmanager
def crawlee(url: str, concurrency: int) -> Iterator[Crawlee | str]:
    """Have a Crawlee ready meanwhile; gives one line instead when it cannot be installed."""
    if problem := peers.have_environment():
        yield problem
        return
    variables = {**os.environ, "BENCH_BROWSER": str(find_browser()), "BENCH_TITLE": TITLE}
    command = [peers.PROGRAMS / "python", peers.FOLDER / "crawl.py"]
    with peers.running(command, variables, stdin=subprocess.PIPE) as process:
        yield Crawlee(process, f"{url}/", concurrency)
