"""A site with sitemaps on loopback; `127.0.0.1` and `localhost` are two hosts of it."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class SitemapSite:
    """What there is at each path: an answer's status, headers and body."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, dict[str, str], bytes]] = {}
        # How often a path is answered with 503 first.
        self.fails: Counter[str] = Counter()
        self.asked: Counter[str] = Counter()
        site = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = self.path.split("127.0.0.1", 1)[-1].removeprefix(f":{site.port}")
                site.asked[path] += 1
                status, headers, body = site.answers.get(path, (404, {}, b""))
                if site.fails[path]:
                    site.fails[path] -= 1
                    status, headers, body = 503, {"Retry-After": "0"}, b""
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"

    def put(self, path: str, body: bytes | str, status: int = 200, **headers: str) -> str:
        content = body.encode() if isinstance(body, str) else body
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.answers[path] = (status, named, content)
        return self.url(path)

    def put_urls(self, path: str, urls: list[str], lastmod: str = "", **headers: str) -> str:
        entries = "".join(
            f"<url><loc>{url}</loc><lastmod>{lastmod}</lastmod></url>" for url in urls
        )
        content = f"<urlset>{entries}</urlset>".encode()
        packed = path.endswith(".gz") or "Content_Encoding" in headers
        return self.put(path, gzip.compress(content) if packed else content, **headers)

    def put_index(self, path: str, urls: list[str]) -> str:
        named = "".join(f"<sitemap><loc>{url}</loc></sitemap>" for url in urls)
        return self.put(path, f"<sitemapindex>{named}</sitemapindex>")

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
