"""All URLs of a sitemap, its index files followed, as records that can become jobs.

By sitemaps.org: a sitemap speaks for its own host, and for another one only if that one's
robots.txt names it. What is left out is counted. Memory stays flat however many URLs there are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from urllib.parse import urljoin, urlsplit

from protego import Protego

from worker.errors import UsageError
from worker.intake import sitemap_files
from worker.intake.records import Record
from worker.intake.sitemap_fetch import Fetched
from worker.intake.sitemap_files import BadSitemap, Entry
from worker.urls import job_url_problem

# What an index may name, and how deep index files may lie in each other.
MAX_FILES = 50_000
MAX_DEPTH = 5
# How many other hosts are asked whether a sitemap speaks for them.
MAX_HOSTS = 20
MAX_ROBOTS = 512_000
_MOMENT = timedelta(microseconds=1)
_LONGEST_MONTH = timedelta(days=31)
_DAY_LESS_A_MOMENT = timedelta(days=1) - _MOMENT
_DAY = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d))?)?")

Fetch = Callable[..., AbstractContextManager[Fetched]]


@dataclass(slots=True)
class LeftOut:
    """What was found and is no record."""

    older: int = 0
    other_hosts: int = 0
    hosts: set[str] = field(default_factory=set)


class Sitemaps:
    """One walk through a sitemap; `files`, `known_files` and `urls` tell how far it has come."""

    def __init__(self, fetch: Fetch, since: datetime | None = None) -> None:
        """`since` leaves out what says that it has not changed from then on."""
        self.files = self.known_files = self.urls = self.undated = 0
        self.left_out = LeftOut()
        self._fetch = fetch
        self._since = since
        self._hosts: dict[str, bool] = {}
        self._trail: tuple[str, ...] = ()

    def records(self, root: str) -> Iterator[Record]:
        """Read all records; raises UsageError if the sitemap itself cannot be read.

        A file that it names and that cannot be read is a bad line.
        """
        waiting: list[tuple[str, tuple[str, ...]]] = [(root, ())]
        seen = {hash(root)}
        self._hosts[_host(root)] = True
        self.known_files = 1
        while waiting:
            url, trail = waiting.pop()
            self._trail = (*trail, url)
            named: list[str] = []
            try:
                for entry in self._entries(url):
                    if entry.kind == "url":
                        yield from self._record(url, entry)
                    elif (loc := self._file(url, entry)) and hash(loc) not in seen:
                        if len(seen) >= MAX_FILES:
                            raise BadSitemap(f"leads to more than {MAX_FILES:,} files")
                        if len(trail) >= MAX_DEPTH:
                            raise BadSitemap("is an index within an index within an index …")
                        seen.add(hash(loc))
                        named.append(loc)
            except BadSitemap as problem:
                if url == root and not self.urls and not named:
                    raise UsageError(f"--sitemap {url} {problem}; nothing was added") from problem
                yield self.urls, f"{url} {problem}"
            self.files += 1
            self.known_files += len(named)
            waiting += [(loc, self._trail) for loc in reversed(named)]

    def _entries(self, url: str) -> Iterator[Entry]:
        with self._fetch(url) as fetched:
            # Where it really is, it speaks for too.
            self._hosts[_host(fetched.url)] = True
            yield from sitemap_files.read(fetched.chunks())

    def _record(self, file: str, entry: Entry) -> Iterator[Record]:
        self.urls += 1
        if problem := job_url_problem(entry.loc):
            yield self.urls, f"{problem} ({file})"
        elif self._is_wanted(entry):
            yield self.urls, {"url": entry.loc, "lastmod": entry.lastmod}

    def _file(self, index: str, entry: Entry) -> str | None:
        """Say where a file is that an index names; None if it is to be left out."""
        loc = urljoin(index, entry.loc)
        if job_url_problem(loc):
            raise BadSitemap(f"names {entry.loc[:80]!r}, which is no URL")
        changed = None if self._since is None else last_change(entry.lastmod)
        if changed is not None and self._since is not None and changed < self._since:
            return None
        return loc if self._speaks_for(_host(loc)) else None

    def _is_wanted(self, entry: Entry) -> bool:
        host = _host(entry.loc)
        if not self._speaks_for(host):
            return False
        if self._since is None:
            return True
        changed = last_change(entry.lastmod)
        if changed is None:
            self.undated += 1
            return True
        self.left_out.older += changed < self._since
        return changed >= self._since

    def _speaks_for(self, host: str) -> bool:
        if host not in self._hosts and len(self._hosts) <= MAX_HOSTS:
            self._hosts[host] = self._is_named_by(host)
        if self._hosts.get(host):
            return True
        self.left_out.other_hosts += 1
        if len(self.left_out.hosts) < MAX_HOSTS:
            self.left_out.hosts.add(host)
        return False

    def _is_named_by(self, host: str) -> bool:
        """Whether a host's robots.txt names the file that is read, or one that led to it."""
        scheme = urlsplit(self._trail[-1]).scheme
        try:
            with self._fetch(f"{scheme}://{host}/robots.txt", tries=1) as fetched:
                content = b""
                for chunk in fetched.chunks():
                    content += chunk
                    if len(content) >= MAX_ROBOTS:
                        break
        except BadSitemap:
            return False
        lines = content[:MAX_ROBOTS].decode("utf-8", "replace").splitlines()
        naming = (line for line in lines if line[:10].lstrip("\ufeff ").lower().startswith("site"))
        return not set(self._trail).isdisjoint(Protego.parse("\n".join(naming)).sitemaps)


def last_change(text: str) -> datetime | None:
    """Read when something changed last, at the latest: `2026-01` is the end of that month.

    None when it does not say, or says something else.
    """
    if found := _DAY.fullmatch(text.strip()):
        year, month, day = (int(part) if part else None for part in found.groups())
        try:
            if day is not None:
                return datetime(year or 0, month or 0, day, tzinfo=UTC) + _DAY_LESS_A_MOMENT
            first = datetime(year or 0, month or 12, 1, tzinfo=UTC)
            return (first + _LONGEST_MONTH).replace(day=1) - _MOMENT
        except (ValueError, OverflowError):
            return None
    try:
        moment = datetime.fromisoformat(text.strip())
        return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    except ValueError:
        return None


def _host(url: str) -> str:
    """Name the host of a URL, with its port if it is not the usual one."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return ""
    usual = {"http": 80, "https": 443}.get(parts.scheme.lower())
    name = (parts.hostname or "").rstrip(".")
    return name if port in (None, usual) else f"{name}:{port}"
