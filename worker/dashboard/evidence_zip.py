"""Everything of one attempt's evidence as a zip, made while it is sent: it is in no memory whole.

Only the known files go in, by their own names, as they are: masked when they were written.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

from worker.dashboard.evidence_files import FILES, open_file

CHUNK = 64 * 1024
# What is packed already.
PACKED = (".png", ".jpg", ".zip")


class _Sink:
    """Takes what the zip's writer writes, until it is sent."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep some."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held anywhere else."""

    def take(self) -> bytes:
        """Give what came since the last time."""
        taken = b"".join(self._parts)
        self._parts.clear()
        return taken


def zipped(folder: Path, name: str) -> Iterator[bytes]:
    """Pack the files of a folder that are there into a folder of that name."""
    sink = _Sink()
    with zipfile.ZipFile(sink, "w") as archive:  # type: ignore[call-overload]
        for each, (file_name, _) in FILES.items():
            number = open_file(folder, each)
            if number is None:
                continue
            with os.fdopen(number, "rb") as file:
                info = zipfile.ZipInfo(f"{name}/{file_name}")
                info.external_attr = 0o600 << 16
                info.file_size = os.fstat(file.fileno()).st_size
                is_packed = file_name.endswith(PACKED)
                info.compress_type = zipfile.ZIP_STORED if is_packed else zipfile.ZIP_DEFLATED
                with archive.open(info, "w") as packed:
                    while chunk := file.read(CHUNK):
                        packed.write(chunk)
                        yield sink.take()
    yield sink.take()
