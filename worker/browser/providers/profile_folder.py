"""What is in a local profile's folder: nothing, a browser's files, or cookies among them.

It is read while no browser uses the folder, and nothing is changed.
"""

from __future__ import annotations

import sqlite3
from enum import StrEnum
from pathlib import Path
from urllib.parse import quote

# Where Chromium has kept cookies, by version.
COOKIE_STORES = ("Default/Cookies", "Default/Network/Cookies")
# A store that was being written when its browser was killed has one of these, not empty, beside it.
_JOURNALS = ("-journal", "-wal")


class Contents(StrEnum):
    """What a folder holds."""

    NONE = "none"
    FOLDER = "folder"
    COOKIES = "cookies"


def contents_of(folder: Path) -> Contents:
    """Look what a folder holds; raises OSError when that cannot be seen."""
    if not folder.is_dir() or not any(folder.iterdir()):
        return Contents.NONE
    if any(_has_cookies(folder / store) for store in COOKIE_STORES):
        return Contents.COOKIES
    return Contents.FOLDER


def _has_cookies(store: Path) -> bool:
    if not store.is_file() or store.stat().st_size == 0:
        return False
    # Immutable: a journal that was left is neither played back nor in the way.
    address = f"file:{quote(str(store))}?mode=ro&immutable=1"
    try:
        connection = sqlite3.connect(address, uri=True)
        try:
            return connection.execute("SELECT 1 FROM cookies LIMIT 1").fetchone() is not None
        finally:
            connection.close()
    except sqlite3.Error:
        # Half-written, it is mended by Chromium; without a journal it would be thrown away.
        journals = [store.with_name(store.name + ending) for ending in _JOURNALS]
        return any(journal.exists() and journal.stat().st_size > 0 for journal in journals)
