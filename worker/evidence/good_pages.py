"""The last good page of each task and site: one at a time, in errors/good/<database>/<name>/.

A page is there in full and never changes: a newer one takes its place. Of all workers that share
the folder one at a time takes a page, and past `MAX_PAGES` or `MAX_BYTES` the oldest ones go.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from worker.evidence.pictures import LAST_GOOD
from worker.system.swap_folders import swap_in

FOLDER = "good"
INTERVAL_SECONDS = 600.0
MAX_PAGES = 500
MAX_BYTES = 200_000_000
PICTURE, HTML, FACTS = "screenshot.jpg", "page.html", "good.json"
# By these names a failure's evidence has them.
KEPT_HTML = "good.html"

_LOCK = ".lock"
_NEW = ".new-"
_BLOCK_BYTES = 512


class GoodPages:
    """The good pages of one database."""

    def __init__(self, errors_dir: Path, database: str) -> None:
        self._folder = errors_dir / FOLDER / database

    def fresh_seconds(self, task: str, site: str) -> float:
        """Say for how long the page of a task and site need not be taken again; 0: it is due."""
        try:
            taken = (self._place(task, site) / FACTS).stat().st_mtime
        except OSError:
            return 0.0
        age = time.time() - taken
        # One from the future was taken before somebody set the clock back.
        return INTERVAL_SECONDS - age if 0 <= age < INTERVAL_SECONDS else 0.0

    @contextmanager
    def taking(self) -> Iterator[bool]:
        """Be the only one who takes a page meanwhile; False when somebody else does. OSError."""
        for folder in (self._folder.parent, self._folder):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(self._folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
        finally:
            os.close(lock)

    def put(
        self, task: str, site: str, facts: dict[str, Any], picture: bytes, html: bytes | None
    ) -> None:
        """Keep a page, in place of the one before; within `taking`. Raises OSError."""
        self._drop_unfinished()
        place = self._place(task, site)
        new = self._folder / f"{_NEW}{place.name}"
        told = {**facts, "task": task, "site": site}
        told["html_bytes"] = None if html is None else len(html)
        try:
            _write(new, told, picture, html)
            old = swap_in(new, place)
        except OSError:
            # On a full disk the half-written page would only take up what little is left.
            shutil.rmtree(new, ignore_errors=True)
            raise
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)
        self._drop_surplus()

    def put_into(self, evidence: Path, task: str, site: str) -> dict[str, Any] | None:
        """Let a failure's evidence keep the good page of its task and site, and tell of that page.

        The evidence stays true when a newer page replaces this one. Without a page it is None.
        Raises OSError.
        """
        for _ in range(2):
            facts = self._facts(task, site)
            if facts is None:
                return None
            for name, kept in ((PICTURE, LAST_GOOD.file_name), (HTML, KEPT_HTML)):
                (evidence / kept).unlink(missing_ok=True)
                with suppress(FileNotFoundError):
                    _link_or_copy(self._place(task, site) / name, evidence / kept)
            # It may have been replaced at this very moment.
            if facts == self._facts(task, site):
                return facts
        return None

    def _facts(self, task: str, site: str) -> dict[str, Any] | None:
        try:
            facts = json.loads((self._place(task, site) / FACTS).read_bytes())
        except (OSError, ValueError):
            return None
        is_it = isinstance(facts, dict) and (facts.get("task"), facts.get("site")) == (task, site)
        return facts if is_it else None

    def _place(self, task: str, site: str) -> Path:
        # A stranger chooses the site's name, and perhaps the task's.
        name = hashlib.sha256(f"{task}\0{site}".encode("utf-8", "replace")).hexdigest()[:24]
        return self._folder / name

    def _drop_unfinished(self) -> None:
        """Remove what somebody who was killed has left."""
        for path in self._folder.glob(f"{_NEW}*"):
            shutil.rmtree(path, ignore_errors=True)

    def _drop_surplus(self) -> None:
        pages = sorted(_sizes(self._folder))
        total = sum(size for _, size, _ in pages)
        for number, (_, size, path) in enumerate(pages):
            if len(pages) - number <= MAX_PAGES and total <= MAX_BYTES:
                break
            shutil.rmtree(path, ignore_errors=True)
            total -= size


def _write(folder: Path, facts: dict[str, Any], picture: bytes, html: bytes | None) -> None:
    folder.mkdir(mode=0o700)
    (folder / PICTURE).write_bytes(picture)
    if html is not None:
        (folder / HTML).write_bytes(html)
    text = json.dumps(facts, ensure_ascii=False, indent=2)
    (folder / FACTS).write_bytes(text.encode("utf-8", "replace"))


def html_of(evidence: Path, facts: dict[str, Any]) -> str | None:
    """Read the HTML of the good page that is in a failure's evidence; None when it is not whole."""
    try:
        content = (evidence / KEPT_HTML).read_bytes()
    except OSError:
        return None
    # After a power cut a file may be there without what was in it.
    return content.decode() if len(content) == facts.get("html_bytes") else None


def folders(errors_dir: Path) -> Iterator[Path]:
    """List the folders of all good pages, of whatever database."""
    for database in _subfolders(errors_dir / FOLDER):
        yield from (page for page in _subfolders(database) if not page.name.startswith(_NEW))


def _sizes(folder: Path) -> Iterator[tuple[float, int, Path]]:
    for page in _subfolders(folder):
        if page.name.startswith("."):
            continue
        try:
            with os.scandir(page) as entries:
                stats = [entry.stat(follow_symlinks=False) for entry in entries]
        except OSError:
            continue
        taken = max((stat.st_mtime for stat in stats), default=0.0)
        yield taken, sum(stat.st_blocks * _BLOCK_BYTES for stat in stats), page


def _subfolders(folder: Path) -> list[Path]:
    try:
        with os.scandir(folder) as entries:
            return [Path(entry) for entry in entries if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _link_or_copy(source: Path, target: Path) -> None:
    """Let a second name lead to a file that never changes: it costs no room; else copy it."""
    try:
        os.link(source, target)
    except FileNotFoundError:
        raise
    except OSError:
        shutil.copyfile(source, target)
