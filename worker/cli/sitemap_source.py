"""`enqueue --sitemap`: a site's sitemap as records, fetched once and kept on disk meanwhile.

So no transaction waits for somebody else's server, and a second try asks nobody again.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import IO, Any

import click

from worker.cli.connection import begin_database
from worker.cli.output import tell
from worker.cli.progress import CountProgress
from worker.cli.trial_proxy import find_proxy, proxy_flags
from worker.cli.wording import counted
from worker.errors import UsageError
from worker.flags import parse_duration
from worker.history import archive
from worker.intake.records import Record
from worker.intake.sitemap_fetch import Fetcher
from worker.intake.sitemaps import Sitemaps
from worker.urls import job_url_problem

# What a payload has of an entry, unless --map says otherwise.
COLUMNS = {"url": "url"}
_SHOWN_HOSTS = 3


def sitemap_flags(command: Any) -> Any:
    """Give `enqueue` the flags of sitemaps."""
    for flag in (
        proxy_flags,
        click.option(
            "--lastmod-since",
            metavar="TIME",
            help="Only what changed since: 7d (ago), or 2026-01-31. What does not say is taken.",
        ),
        click.option(
            "--sitemap",
            metavar="URL",
            help="Add all URLs of a sitemap; index files are followed. Columns: url, lastmod.",
        ),
    ):
        command = flag(command)
    return command


@dataclass(frozen=True, slots=True)
class Spool:
    """The records of a sitemap, on disk."""

    stream: IO[bytes]
    left_out: dict[str, int]

    def records(self) -> Iterator[Record]:
        """Read them, from the first one."""
        self.stream.seek(0)
        for line in self.stream:
            number, values = json.loads(line)
            yield number, values


@contextmanager
def spooled(flags: dict[str, Any]) -> Iterator[Spool | None]:
    """Have the records of --sitemap while the block runs; None where that is not given."""
    url = flags["sitemap"]
    if url is None:
        for name in ("lastmod_since", "proxy_name", "direct"):
            if flags[name]:
                flag = {"proxy_name": "proxy"}.get(name, name).replace("_", "-")
                raise UsageError(f"--{flag} is for --sitemap URL")
        yield None
        return
    if problem := job_url_problem(url):
        raise UsageError(f"--sitemap: {problem}")
    if flags["kind"] or flags["delimiter"]:
        raise UsageError("--format and --delimiter are for files, not for --sitemap")
    since = None if flags["lastmod_since"] is None else moment_since(flags["lastmod_since"])
    proxy = find_proxy(None, {"url": url}, flags["proxy_name"], flags["direct"])
    with (
        closing(Fetcher(None if proxy is None else proxy.url)) as fetcher,
        tempfile.TemporaryFile(prefix="nightshift-") as stream,
    ):
        sitemaps = Sitemaps(fetcher.fetch, since)
        _fill(stream, sitemaps, url)
        _say_what_is_left_out(sitemaps, flags["lastmod_since"])
        left_out = sitemaps.left_out
        yield Spool(stream, {"other_hosts": left_out.other_hosts, "older": left_out.older})


def _fill(stream: IO[bytes], sitemaps: Sitemaps, url: str) -> None:
    def so_far() -> str:
        files = f"{sitemaps.files:,} of {counted(sitemaps.known_files, 'file')}"
        return f"sitemap: {files}, {counted(sitemaps.urls, 'URL')}"

    with CountProgress() as progress:
        for record in sitemaps.records(url):
            stream.write(json.dumps(record).encode() + b"\n")
            progress.show(so_far)


def _say_what_is_left_out(sitemaps: Sitemaps, since: str | None) -> None:
    left_out = sitemaps.left_out
    if left_out.other_hosts:
        hosts = sorted(left_out.hosts)
        more = ", …" if len(hosts) > _SHOWN_HOSTS else ""
        named = f"({', '.join(hosts[:_SHOWN_HOSTS])}{more})"
        tell(
            f"left out {counted(left_out.other_hosts, 'URL')} of other hosts {named}, "
            f"whose robots.txt does not name the sitemap",
            err=True,
        )
    if left_out.older:
        tell(f"left out {counted(left_out.older, 'URL')} without a change since {since}", err=True)
    if sitemaps.undated:
        tell(f"{counted(sitemaps.undated, 'URL')} without a lastmod: taken all the same", err=True)


def moment_since(text: str) -> datetime:
    """Read `--lastmod-since`: a duration back from the database's time, or a time."""
    try:
        seconds = parse_duration(text)
    except ValueError:
        pass
    else:
        with closing(begin_database()) as db:
            return archive.ago(archive.now(db), seconds).replace(tzinfo=UTC)
    try:
        return datetime.fromisoformat(text).astimezone(UTC)
    except (ValueError, OverflowError):
        raise UsageError(
            f"--lastmod-since {text} is neither a duration (7d) nor a time (2026-01-31)"
        ) from None
