"""Lines of a file that may hold anything: bounded in length, decoded, memory flat.

A line that is too long, not in the encoding, or holds a NUL is given as a BadLine, not raised.
Lines come in chunks, because a million of them one by one cost more than the server's work.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import IO

MAX_LINE_BYTES = 1_000_000
CHUNK_BYTES = 1 << 18


class BadLine(str):
    """A line that cannot be used: an empty text that knows why."""

    problem: str

    def __new__(cls, problem: str) -> BadLine:
        line = super().__new__(cls)
        line.problem = problem
        return line


class Lines:
    """The lines of a binary stream, with their ends; `bytes_read` tells how far it has come."""

    def __init__(self, stream: IO[bytes], encoding: str = "utf-8") -> None:
        self._stream = stream
        self._encoding = encoding
        self.bytes_read = 0

    def __iter__(self) -> Iterator[str]:
        rest = self._read().removeprefix(codecs.BOM_UTF8)
        while chunk := self._read():
            data = rest + chunk
            end = data.rfind(b"\n") + 1
            rest = data[end:]
            yield from self._decoded(data[:end])
            if len(rest) > MAX_LINE_BYTES:
                rest = self._skip_line()
                yield _too_long()
        yield from self._decoded(rest)

    def _read(self) -> bytes:
        data = self._stream.read(CHUNK_BYTES)
        self.bytes_read += len(data)
        return data

    def _skip_line(self) -> bytes:
        """Pass over the rest of a line; return what was read beyond its end."""
        while data := self._read():
            if (end := data.find(b"\n")) >= 0:
                return data[end + 1 :]
        return b""

    def _decoded(self, data: bytes) -> Iterator[str]:
        """Decode whole lines at once, or one by one if one of them is bad."""
        try:
            text = data.decode(self._encoding)
        except UnicodeDecodeError:
            return map(self._line, io.BytesIO(data))
        if len(data) > MAX_LINE_BYTES or "\0" in text:
            return map(self._line, io.BytesIO(data))
        return io.StringIO(text, newline="\n")

    def _line(self, data: bytes) -> str:
        if len(data.rstrip(b"\r\n")) > MAX_LINE_BYTES:
            return _too_long()
        try:
            text = data.decode(self._encoding)
        except UnicodeDecodeError as error:
            if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                return BadLine("begins as UTF-16 does; save the file as UTF-8 and try again")
            return BadLine(
                f"byte {error.start + 1} is not {self._encoding}; say what it is with --encoding, "
                f"such as latin-1 or cp1252"
            )
        return BadLine("holds a NUL byte") if "\0" in text else text


def _too_long() -> BadLine:
    return BadLine(f"longer than {MAX_LINE_BYTES:,} bytes")
