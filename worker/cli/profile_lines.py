"""Read profiles from CSV or JSONL: each line gives a profile, or its number and a reason."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

from worker.cli.import_file import BadLine
from worker.cli.profile_fields import Known, profile_of
from worker.errors import UsageError
from worker.intake import records
from worker.intake.lines import Lines
from worker.profiles.store import NewProfile

JSON_SUFFIXES = {".jsonl", ".ndjson"}


def read_profiles(data: bytes, name: str, known: Known) -> Iterator[NewProfile | BadLine]:
    """Read profiles; the file's name, or the first character of stdin, tells the format."""
    is_json = Path(name).suffix.lower() in JSON_SUFFIXES
    if name == "-":
        is_json = data.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    kind: records.Format = "jsonl" if is_json else "csv"
    for number, values in records.read(Lines(io.BytesIO(data)), kind):
        if isinstance(values, str):
            yield BadLine(number, values)
            continue
        try:
            yield profile_of(values, known)
        except UsageError as error:
            yield BadLine(number, str(error))
