"""`launcher.py enqueue`: fill the queue from a URL, a text file of URLs, or standard input."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import click

from worker.cli.connection import open_database
from worker.errors import UsageError
from worker.queue import Queue

_URL = re.compile(r"https?://[^\s/?#]+\S*$", re.IGNORECASE)
MAX_URL = 8192
MAX_TASK = 64
SHOWN_PROBLEMS = 10


@click.command("enqueue")
@click.argument("source")
@click.option("--task", default="visit", show_default=True, help="The task that does the jobs.")
def enqueue(source: str, task: str) -> None:
    """Add jobs: SOURCE is a URL, a text file with a URL a line, or - for standard input.

    Empty lines and lines that start with # are passed over. One bad line, and nothing is added.
    """
    if len(task) > MAX_TASK:
        raise UsageError(f"--task is longer than {MAX_TASK} characters")
    urls = _urls(source)
    if not urls:
        raise UsageError(f"{source} holds no URL; nothing was added")
    with closing(open_database()) as db:
        count = Queue(db).enqueue_many(task, ({"url": url} for url in urls))
    click.echo(f"added {count:,} job{'s' if count != 1 else ''} for task {task}")


def _urls(source: str) -> list[str]:
    if re.match(r"[a-z][a-z0-9+.-]*://", source, re.IGNORECASE):
        return _checked([source], "the URL")
    if source == "-":
        assert isinstance(sys.stdin, io.TextIOWrapper)
        sys.stdin.reconfigure(encoding="utf-8-sig", errors="surrogateescape")
        return _checked(sys.stdin, "standard input")
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"{source} is neither a URL (http://…, https://…) nor a file")
    try:
        with path.open(encoding="utf-8-sig", errors="surrogateescape") as lines:
            return _checked(lines, source)
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}") from error


def _checked(lines: Iterable[str], name: str) -> list[str]:
    urls, problems = [], []
    for number, line in enumerate(lines, 1):
        url = line.strip()
        if not url or url.startswith("#"):
            continue
        if problem := _problem(url):
            problems.append(f"  line {number}: {problem}")
        urls.append(url)
    if problems:
        more = len(problems) - SHOWN_PROBLEMS
        listed = problems[:SHOWN_PROBLEMS] + ([f"  and {more} more"] if more > 0 else [])
        raise UsageError("\n".join([f"{name} has bad lines; nothing was added:", *listed]))
    return urls


def _problem(url: str) -> str | None:
    if len(url) > MAX_URL:
        return f"longer than {MAX_URL} characters"
    if any("\ud800" <= character <= "\udfff" for character in url):
        return f"{url[:80]!r} is not UTF-8; save the list as UTF-8, or escape the character: %E9"
    if not _URL.match(url):
        return f"{url[:80]!r} is not a URL; write http://… or https://…"
    return None


COMMANDS = [enqueue]
