"""A site that repeats what it is told, in every way that a site can: for tests of secrets."""

from __future__ import annotations

import html
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

FORM = """<form method=post action=/form>
<input id=user name=user><input id=password type=password name=pw>
<input id=card name=card><textarea id=note name=note></textarea><button>Log in</button></form>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        self._answer(parse_qs(urlsplit(self.path).query))

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        self._answer({"card": parse_qs(body).get("card", [])})

    def _answer(self, told: dict[str, list[str]]) -> None:
        """Say everything back: in the title, the text, a script, the console and a cookie."""
        said = " ".join(value for values in told.values() for value in values)
        script = json.dumps(said).replace("</", "<\\/")
        text = html.escape(said)
        body = f"""<meta charset=utf-8><title>{text}</title><h1>{text}</h1>
        {FORM}<input type=hidden name=csrf_token value="{self._secret("hidden")}">
        <meta name=csrf-token content="{self._secret("meta")}">
        <script>console.log({script}); const state = {{"accessToken": "{self._secret("json")}"}};
        </script>""".encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Set-Cookie", f"PHPSESSID={self._secret('cookie')}; HttpOnly")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _secret(self, kind: str) -> str:
        """A secret of the site's own, told backwards by the path: /of/EROC says COREhidden."""
        parts = urlsplit(self.path).path.split("/")
        return f"{parts[2][::-1]}{kind}" if parts[1:2] == ["of"] else ""

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def serve() -> Iterator[str]:
    """Have the site for the time of a block; give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
