"""Sites and HTTP proxies on loopback that tests steer: who is refused, who asked for what."""

from __future__ import annotations

import base64
import http.client
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

VIA = "X-Came-Through"


class _Listener(ThreadingHTTPServer):
    """Lets handlers know whose they are."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, address, handler, owner: _Server) -> None:
        super().__init__(address, handler)
        self.owner = owner


class _Handler(BaseHTTPRequestHandler):
    """Answers for a server of a test's, and says nothing on stderr."""

    protocol_version = "HTTP/1.1"
    server: _Listener

    def log_message(self, *_: object) -> None:
        pass


class _Server:
    """A server in a thread; `port` is where it listens."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], address: str = "127.0.0.1") -> None:
        self._server = _Listener((address, 0), handler, self)
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class _SiteHandler(_Handler):
    """Answers, or refuses, as its site was told to."""

    def do_GET(self) -> None:
        site = self.server.owner
        via, host = self.headers.get(VIA), self.headers["Host"].partition(":")[0]
        is_refused = via in site.refused_proxies or host in site.refused_hosts
        if self.path != "/favicon.ico":
            site.asked[via] += 1
            is_refused |= site.asked.total() <= site.first_refused
            site.cookies.append(self.headers.get("Cookie"))
            site.queries.append((via, self.path.partition("?")[2]))
        body = b"<title>Just a moment...</title>" if is_refused else b"<title>in</title>"
        self.send_response(403 if is_refused else site.status)
        for key, value in site.headers.items():
            self.send_header(key, value)
        if is_refused:
            self.send_header("cf-mitigated", "challenge")
            if site.retry_after is not None:
                self.send_header("Retry-After", str(site.retry_after))
        self.send_header("Set-Cookie", "seen=1; Max-Age=1000")
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class Site(_Server):
    """A site that sets a cookie, and challenges hosts and proxies it does not like."""

    def __init__(self) -> None:
        # Names of proxies (None: directly) and of hosts that are refused.
        self.refused_proxies: set[str | None] = set()
        self.refused_hosts: set[str] = set()
        # So many visits, the first ones, are refused whoever comes.
        self.first_refused = 0
        self.retry_after: int | None = None
        # What everybody else is answered.
        self.status = 200
        self.headers: dict[str, str] = {}
        self.asked: Counter[str | None] = Counter()
        self.cookies: list[str | None] = []
        self.queries: list[tuple[str | None, str]] = []
        super().__init__(_SiteHandler)


class _ProxyHandler(_Handler):
    """Passes requests on to the one site, if the login is right."""

    def do_GET(self) -> None:
        if self.headers.get("Proxy-Authorization") != self.server.owner.login:
            self._refuse_login()
            return
        if self.path.startswith("http://nightshift.invalid/"):
            # A name that does not exist leads nowhere.
            self.send_error(502)
            return
        link = http.client.HTTPConnection("127.0.0.1", self.server.owner.site_port, timeout=10)
        headers = {key: self.headers[key] for key in ("Host", "Cookie") if self.headers[key]}
        path = "/" + self.path.split("/", 3)[3]
        link.request("GET", path, headers={**headers, VIA: self.server.owner.name})
        answer = link.getresponse()
        body = answer.read()
        self.send_response(answer.status)
        for key, value in answer.getheaders():
            if key.lower() not in ("date", "server"):
                self.send_header(key, value)
        self.end_headers()
        self.wfile.write(body)
        link.close()

    def do_CONNECT(self) -> None:
        if self.headers.get("Proxy-Authorization") != self.server.owner.login:
            self._refuse_login()
        else:
            # Nothing here speaks TLS: every such site is dead.
            self.send_response(502)
            self.send_header("Content-Length", "0")
            self.end_headers()

    def _refuse_login(self) -> None:
        self.server.owner.refused_logins += "Proxy-Authorization" in self.headers
        self.send_response(407)
        self.send_header("Proxy-Authenticate", 'Basic realm="night"')
        self.send_header("Content-Length", "0")
        self.end_headers()


class HttpProxy(_Server):
    """An HTTP proxy with a login that leads every name to one site, and says its own there."""

    def __init__(self, name: str, site_port: int, username: str, password: str) -> None:
        self.name, self.username, self.password = name, username, password
        self.refused_logins = 0
        self.site_port = site_port
        self.login = "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()
        super().__init__(_ProxyHandler)

    @property
    def url(self) -> str:
        return f"http://{self.username}:{self.password}@127.0.0.1:{self.port}"
