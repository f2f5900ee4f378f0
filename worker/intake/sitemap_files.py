"""One sitemap file, read piece by piece: its URLs, or the sitemaps that an index names.

A stranger has written it. It declares no entities and has no DOCTYPE, and no part of it takes much
memory, however it was packed. Past the size that sitemaps.org allows (50 MB) it is refused.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Literal
from xml.parsers import expat

MAX_BYTES = 50 * 1024 * 1024
MAX_DEPTH = 20
# Longer than any URL that can be a job.
MAX_TEXT = 9000
# A tag, comment or declaration that is not over by then is no honest one.
MAX_TOKEN = 1 << 20
PIECE = 1 << 16
GZIP = b"\x1f\x8b"
_ROOTS: dict[str, Literal["url", "sitemap"]] = {"urlset": "url", "sitemapindex": "sitemap"}
_BLANK = re.compile(rb"[\s\xef\xbb\xbf\xfe\xff\x00]*")


class BadSitemap(Exception):
    """A file that cannot be a sitemap; the message says why."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One `<url>` of a sitemap or one `<sitemap>` of an index; `lastmod` as it stands there."""

    kind: Literal["url", "sitemap"]
    loc: str
    lastmod: str = ""


def read(chunks: Iterable[bytes]) -> Iterator[Entry]:
    """Read the entries of a file, gzipped or not, XML or one URL a line; raises BadSitemap."""
    pieces = _limited(unpacked(chunks))
    first = next((piece for piece in pieces if piece), b"")
    pieces = chain([first], pieces)
    beginning = _BLANK.sub(b"", first, count=1)[:15].lower()
    if beginning.startswith((b"<html", b"<!doctype html")):
        raise BadSitemap("is no sitemap: it is a web page")
    if beginning[:1] == b"<":
        return _read_xml(pieces)
    return _read_lines(pieces)


def unpacked(chunks: Iterable[bytes], *, is_packed: bool | None = None) -> Iterator[bytes]:
    """Unpack gzip in pieces of bounded size; by its first bytes, unless it is known."""
    chunks = iter(chunks)
    head = b""
    while len(head) < len(GZIP) and (more := next(chunks, None)) is not None:
        head += more
    chunks = chain([head], chunks)
    if is_packed or (is_packed is None and head.startswith(GZIP)):
        return _inflated(chunks)
    return (chunk[at : at + PIECE] for chunk in chunks for at in range(0, len(chunk), PIECE))


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
    for chunk in chunks:
        data = chunk
        while data:
            if inflater.eof:
                # Another member follows.
                inflater = zlib.decompressobj(wbits=zlib.MAX_WBITS | 32)
            try:
                yield inflater.decompress(data, PIECE)
            except zlib.error as error:
                raise BadSitemap(f"cannot be unpacked ({error})") from error
            data = inflater.unconsumed_tail or inflater.unused_data
    if not inflater.eof:
        raise BadSitemap("is packed, and ends too early")


def _limited(pieces: Iterable[bytes]) -> Iterator[bytes]:
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > MAX_BYTES:
            raise BadSitemap(f"has more than {MAX_BYTES // 2**20} MB, which no sitemap may have")
        yield piece


def _read_xml(pieces: Iterable[bytes]) -> Iterator[Entry]:
    reader = _Reader()
    for piece in pieces:
        yield from reader.feed(piece)
    yield from reader.feed(b"", is_last=True)


def _read_lines(pieces: Iterable[bytes]) -> Iterator[Entry]:
    rest = b""
    for piece in chain(pieces, [b"\n"]):
        *lines, rest = (rest + piece).split(b"\n")
        if len(rest) > MAX_TOKEN:
            raise BadSitemap("is neither XML nor a list of URLs")
        for line in lines:
            text = line.decode("utf-8", "replace").lstrip("\ufeff").strip()
            if text and not text.startswith(("http://", "https://")):
                raise BadSitemap(f"is neither XML nor a list of URLs: {text[:60]!r}")
            if text:
                yield Entry("url", text[:MAX_TEXT])


class _Reader:
    """Hears the parser, and keeps of what it says only what an entry needs."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._path: list[str] = []
        self._kind: Literal["url", "sitemap"] | None = None
        self._found: dict[str, str] = {}
        self._silent = 0
        self._parser = parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = True
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        parser.EntityDeclHandler = self._refuse_entity
        parser.CommentHandler = parser.ProcessingInstructionHandler = self._hear

    def feed(self, piece: bytes, *, is_last: bool = False) -> list[Entry]:
        """Read on, and give the entries that have come to their end."""
        self._entries = []
        self._silent += len(piece)
        try:
            self._parser.Parse(piece, is_last)
        except expat.ExpatError as error:
            what = expat.errors.messages.get(error.code, "not XML")
            raise BadSitemap(f"is not XML at line {error.lineno}: {what}") from error
        except LookupError as error:
            raise BadSitemap(f"has an unknown encoding ({error})") from error
        if self._silent > MAX_TOKEN:
            raise BadSitemap("has a tag or comment that does not end")
        return self._entries

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._silent = 0
        name = name.rpartition(" ")[2]
        if not self._path:
            if name not in _ROOTS:
                raise BadSitemap(f"is no sitemap: it begins with <{name[:40]}>")
            self._kind = _ROOTS[name]
        self._path.append(name)
        if len(self._path) > MAX_DEPTH:
            raise BadSitemap("is nested too deeply")
        if self._path[1:] == [self._kind]:
            self._found = {}

    def _end(self, name: str) -> None:
        self._silent = 0
        if self._path[1:] == [self._kind] and self._kind is not None:
            loc, lastmod = (self._found.get(each, "").strip() for each in ("loc", "lastmod"))
            self._entries.append(Entry(self._kind, loc, lastmod[:40]))
        self._path.pop()

    def _text(self, text: str) -> None:
        self._silent = 0
        match self._path[1:]:
            case [self._kind, "loc" | "lastmod" as name]:
                so_far = self._found.get(name, "")
                self._found[name] = so_far + text[: MAX_TEXT - len(so_far)]

    def _hear(self, *_: str) -> None:
        self._silent = 0

    def _refuse_doctype(self, *_: object) -> None:
        raise BadSitemap("is no sitemap: it has a DOCTYPE")

    def _refuse_entity(self, *_: object) -> None:
        raise BadSitemap("is no sitemap: it declares entities")
