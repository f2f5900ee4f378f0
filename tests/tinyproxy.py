"""A real proxy from Debian, and a site that keeps who called: from what address, `Via` whom."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
import time
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from worker.proxies.proxy import Proxy

PROGRAM = shutil.which("tinyproxy") or shutil.which("tinyproxy", path="/usr/sbin")
needs_tinyproxy = pytest.mark.skipif(
    PROGRAM is None, reason="no tinyproxy here: apt-get install tinyproxy-bin"
)
# A name that only the proxies know the way to.
SHOP = "shop.test"
USER, WORD = "nightuser", "S3cretWord"
DIRECTLY = ("127.0.0.1", None)


class CallersSite:
    """A site on loopback; `callers` says for each query who asked with it."""

    def __init__(self) -> None:
        self.callers: dict[str, list[tuple[str, str | None]]] = {}
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                query = self.path.partition("?")[2]
                if not self.path.endswith("/favicon.ico"):
                    via = self.headers.get("Via")
                    caller = (self.client_address[0], via.split()[1] if via else None)
                    site.callers.setdefault(query, []).append(caller)
                body = b"<title>in</title>"
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self) -> None:
                # Whoever is led here may speak through a tunnel, too: what follows is a request.
                self.send_response(200)
                self.end_headers()
                self.close_connection = False

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self.url = f"http://127.0.0.1:{self.port}/"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def of(self, query: str) -> set[tuple[str, str | None]]:
        return set(self.callers.get(query, ()))

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class Tinyproxy:
    """One tinyproxy with a login, seen from an address of its own; it knows the way to SHOP."""

    def __init__(self, folder: Path, name: str, seen_as: str, site_port: int) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.name, self.seen_as = name, seen_as
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        config = folder / f"{name}.conf"
        config.write_text(
            f"Port {self.port}\nListen 127.0.0.1\nBind {seen_as}\nTimeout 60\nMaxClients 100\n"
            f'ViaProxyName "{name}"\nBasicAuth {USER} {WORD}\nLogFile "{folder}/{name}.log"\n'
            f'PidFile "{folder}/{name}.pid"\nUpstream http 127.0.0.1:{site_port} "{SHOP}"\n',
            encoding="ascii",
        )
        self._process = subprocess.Popen(
            [str(PROGRAM), "-d", "-c", str(config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._wait_until_it_listens()

    @property
    def proxy(self) -> Proxy:
        return Proxy("http", "127.0.0.1", self.port, USER, WORD, name=self.name)

    @property
    def caller(self) -> tuple[str, str]:
        """Who a site sees that is asked by a page."""
        return (self.seen_as, self.name)

    @property
    def tunnel(self) -> tuple[str, None]:
        """Who a site sees that is asked through a tunnel: nothing is written into that."""
        return (self.seen_as, None)

    def close(self) -> None:
        self._process.terminate()
        self._process.wait()

    def _wait_until_it_listens(self) -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                return
            time.sleep(0.02)
        raise AssertionError("tinyproxy never listened")
