"""An HTTP proxy on loopback that keeps what it was asked for."""

from __future__ import annotations

import base64
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from worker.proxies.proxy import Proxy


class RecordingProxy:
    """An HTTP proxy that wants a login, keeps what it was asked for, and answers by itself."""

    def __init__(self, username: str, password: str) -> None:
        self.seen: list[str] = []
        expected = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                is_known = self.headers.get("Proxy-Authorization") == expected
                body = f"<title>through {proxy.port}</title>".encode() if is_known else b""
                self.send_response(200 if is_known else 407)
                if is_known:
                    proxy.seen.append(self.path)
                    self.send_header("Set-Cookie", "seen=1; Max-Age=1000")
                else:
                    self.send_header("Proxy-Authenticate", 'Basic realm="night"')
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self.port = self._server.server_port
        self.proxy = Proxy("http", "127.0.0.1", self.port, username, password)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
