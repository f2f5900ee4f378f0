"""The site that pages are loaded from: 30 kB of HTML and five small files, in a process of its own.

It answers by hand over plain sockets, so that the machine's time goes to the browsers.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

SLOW_SECONDS = 0.5
START_SECONDS = 30.0

_PARAGRAPH = "<p>{} and so on, until the page has the size of an ordinary one.</p>"
_BODY = "\n".join(_PARAGRAPH.format(number) for number in range(400))
_PAGE = f"""<!doctype html><title>Page</title>
<link rel=stylesheet href=/1.css><script src=/2.js></script><script src=/3.js></script>
<h1>Page</h1><img src=/4.svg><img src=/5.svg>
{_BODY}"""
_FILES = {
    "/": ("text/html; charset=utf-8", _PAGE),
    "/slow": ("text/html; charset=utf-8", _PAGE),
    "/1.css": ("text/css", "p { margin: 0 }"),
    "/2.js": ("text/javascript", "document.title += ' 2'"),
    "/3.js": ("text/javascript", "document.title += ' 3'"),
    "/4.svg": ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"),
    "/5.svg": ("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"),
}
TITLE = "Page 2 3"


@contextmanager
def serving() -> Iterator[str]:
    """Serve the site meanwhile; gives its address, `/slow` of which takes its time."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(there,))
    process.start()
    try:
        if not here.poll(START_SECONDS):
            raise RuntimeError("the site of the measurement does not start")
        yield f"http://127.0.0.1:{here.recv()}"
    finally:
        process.kill()
        process.join()


def _serve(pipe: Connection) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = os.getppid()

    async def main() -> None:
        server = await asyncio.start_server(_answer, "127.0.0.1", 0)
        pipe.send(server.sockets[0].getsockname()[1])
        while os.getppid() == parent:
            await asyncio.sleep(1)

    asyncio.run(main())


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            path = request.split(b" ", 2)[1].decode().partition("?")[0]
            if path == "/slow":
                await asyncio.sleep(SLOW_SECONDS)
            kind, text = _FILES.get(path, ("text/plain", ""))
            body = text.encode()
            status = "200 OK" if path in _FILES else "404 Not Found"
            head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n"
            writer.write(f"{head}Cache-Control: no-store\r\n\r\n".encode() + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()
