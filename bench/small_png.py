"""Make a PNG smaller without changing a point of it: packed as hard as zlib can, without extras."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator

SIGNATURE = b"\x89PNG\r\n\x1a\n"
NEEDED = (b"IHDR", b"PLTE", b"tRNS")


def shrink(image: bytes) -> bytes:
    """Pack a PNG anew; the smaller one of the two is returned."""
    chunks = list(_chunks(image))
    data = zlib.decompress(b"".join(body for kind, body in chunks if kind == b"IDAT"))
    packer = zlib.compressobj(9, zlib.DEFLATED, 15, 9)
    packed = packer.compress(data) + packer.flush()
    kept = [(kind, body) for kind, body in chunks if kind in NEEDED]
    parts = [*kept, (b"IDAT", packed), (b"IEND", b"")]
    small = SIGNATURE + b"".join(_chunk(kind, body) for kind, body in parts)
    return min(image, small, key=len)


def _chunks(image: bytes) -> Iterator[tuple[bytes, bytes]]:
    place = len(SIGNATURE)
    while place < len(image):
        (length,) = struct.unpack(">I", image[place : place + 4])
        yield image[place + 4 : place + 8], image[place + 8 : place + 8 + length]
        place += length + 12


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
