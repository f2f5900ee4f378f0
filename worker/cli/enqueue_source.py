"""Where `enqueue` reads from: a URL, a file or standard input, as records."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from worker.cli import file_form
from worker.cli.progress import ByteProgress
from worker.errors import UsageError
from worker.intake import records
from worker.intake.lines import Lines

FORMATS: dict[str, records.Format] = {
    ".csv": "csv",
    ".tsv": "csv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
}


def is_csv(source: str, kind: records.Format | None = None) -> bool:
    """Whether a source is read as CSV: because it is said to be, or by its name."""
    return (kind or FORMATS.get(Path(source).suffix.lower())) == "csv"


@contextmanager
def read(
    source: str,
    kind: records.Format | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Iterator[Iterator[records.Record]]:
    """Read the records of a source while the block runs; raises UsageError if that cannot be."""
    if re.match(r"[a-z][a-z0-9+.-]*://", source, re.IGNORECASE):
        yield records.read_text([source])
        return
    with _open(source) as stream:
        lines = Lines(stream, file_form.encoding(encoding))
        suffix = Path(source).suffix.lower()
        separator = file_form.delimiter(delimiter, "\t" if suffix == ".tsv" else ",")
        size = os.fstat(stream.fileno()).st_size if source != "-" else 0
        with ByteProgress(source, size) as progress:
            watched = progress.watch(lines, lambda: lines.bytes_read)
            yield records.read(watched, kind or FORMATS.get(suffix), separator)


@contextmanager
def _open(source: str) -> Iterator[IO[bytes]]:
    if source == "-":
        yield sys.stdin.buffer
        return
    path = Path(source)
    if not path.is_file():
        raise UsageError(f"{source} is neither a URL (http://…, https://…) nor a file")
    try:
        with path.open("rb") as stream:
            yield stream
    except OSError as error:
        raise UsageError(f"{source} cannot be read: {error.strerror}") from error
