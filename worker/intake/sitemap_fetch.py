"""Fetch a sitemap file to this machine's disk: bounded in size and time, with further tries.

It comes as it was sent. What is packed is unpacked in pieces by whoever reads it.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO

import httpx

from worker.intake.sitemap_files import MAX_BYTES, PIECE, BadSitemap, unpacked
from worker.retry_after import retry_after_seconds

AGENT = "Nightshift (sitemap reader)"
TRIES = 3
FIRST_WAIT_SECONDS, LONGEST_WAIT_SECONDS = 1.0, 30.0
QUIET_SECONDS, FILE_SECONDS = 30.0, 600.0
MAX_REDIRECTS = 10
# Kept in memory up to here.
_IN_MEMORY = 1 << 20
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


@dataclass(frozen=True, slots=True)
class Fetched:
    """A file that was fetched, and where redirects have led."""

    url: str
    content: IO[bytes]
    is_packed: bool

    def chunks(self) -> Iterator[bytes]:
        """Read it in pieces, without what was only packed for the way."""
        raw = iter(lambda: self.content.read(PIECE), b"")
        return unpacked(raw, is_packed=True) if self.is_packed else raw


class Fetcher:
    """Fetches files one after the other; `close` it."""

    def __init__(
        self, proxy: str | None = None, wait: Callable[[float], None] = time.sleep
    ) -> None:
        self._wait = wait
        self._client = httpx.Client(
            proxy=proxy,
            follow_redirects=True,
            max_redirects=MAX_REDIRECTS,
            timeout=QUIET_SECONDS,
            headers={"User-Agent": AGENT, "Accept-Encoding": "gzip"},
        )

    def close(self) -> None:
        """Let connections go."""
        self._client.close()

    @contextmanager
    def fetch(self, url: str, tries: int = TRIES) -> Iterator[Fetched]:
        """Have a file while the block runs; raises BadSitemap that says why it cannot be had."""
        with tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY) as content:
            yield self._tried(url, content, tries)

    def _tried(self, url: str, content: IO[bytes], tries: int) -> Fetched:
        wait, problem = FIRST_WAIT_SECONDS, ""
        for left in reversed(range(tries)):
            content.seek(0)
            content.truncate()
            try:
                return self._download(url, content)
            except httpx.HTTPStatusError as error:
                status = error.response.status_code
                problem = f"cannot be had: HTTP {status}"
                if status not in _PASSING:
                    break
                asked = retry_after_seconds(error.response.headers.get("retry-after", ""))
                wait = max(wait, asked or 0.0)
            except httpx.TooManyRedirects:
                problem = "cannot be had: it redirects without end"
                break
            except (httpx.TransportError, TimeoutError) as error:
                problem = f"cannot be had: {str(error) or type(error).__name__}"
            except (httpx.HTTPError, httpx.InvalidURL, ValueError) as error:
                problem = f"cannot be had: {error}"
                break
            if left:
                self._wait(min(wait, LONGEST_WAIT_SECONDS))
                wait *= 4
        raise BadSitemap(problem)

    def _download(self, url: str, content: IO[bytes]) -> Fetched:
        deadline, size = time.monotonic() + FILE_SECONDS, 0
        with self._client.stream("GET", url) as answer:
            answer.raise_for_status()
            coding = answer.headers.get("content-encoding", "").strip().lower()
            if coding not in ("", "identity", "gzip", "x-gzip", "deflate"):
                raise BadSitemap(f"comes in an encoding that nobody asked for ({coding[:20]})")
            for chunk in answer.iter_raw(PIECE):
                size += len(chunk)
                if size > MAX_BYTES:
                    raise BadSitemap(f"has more than {MAX_BYTES // 2**20} MB")
                if time.monotonic() > deadline:
                    raise TimeoutError(f"not complete after {FILE_SECONDS:.0f} s")
                content.write(chunk)
        content.seek(0)
        return Fetched(str(answer.url), content, coding not in ("", "identity"))
