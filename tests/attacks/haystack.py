"""Everything that a run has written or can be made to say, to search it for a secret."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from pathlib import Path

from worker.database.client import Database

# Where a job's payload itself is kept.
PAYLOADS = {"payload"}


def of_files(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Give every file of a folder, and every member of the archives among them."""
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(folder)), path.read_bytes()
            if path.suffix == ".zip":
                with zipfile.ZipFile(path) as archive:
                    for name in archive.namelist():
                        yield f"{path.relative_to(folder)}!{name}", archive.read(name)


def of_database(db: Database) -> Iterator[tuple[str, bytes]]:
    """Give every row of every table, without the payloads themselves."""
    for table in db.run_statement("SHOW TABLES"):
        (name,) = table.values()
        for row in db.run_statement(f"SELECT * FROM `{name}`"):
            kept = {key: value for key, value in row.items() if key not in PAYLOADS}
            yield f"table {name}", repr(kept).encode()


def places_of(needle: str, haystack: list[tuple[str, bytes]]) -> list[str]:
    """Name the places that hold a text."""
    return sorted({place for place, content in haystack if needle.encode() in content})
