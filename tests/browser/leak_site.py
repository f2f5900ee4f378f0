"""A site, as a proxy shows it, whose page tries every way past the proxy; and who noticed."""

from __future__ import annotations

import socket
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from worker.proxies.proxy import Proxy

PAGE = """<title>leaky</title>
<link rel=dns-prefetch href=//prefetch.test><link rel=preconnect href=http://preconnect.test>
<script>
const servers = [
  {{urls: 'stun:127.0.0.1:{port}'}}, {{urls: 'stun:stun.test:{port}'}},
  {{urls: 'turn:turn.test:3478?transport=tcp', username: 'u', credential: 'c'}},
];
const connection = new RTCPeerConnection({{iceServers: servers}});
connection.onicegatheringstatechange = () => {{
  if (connection.iceGatheringState === 'complete') document.title = 'gathered';
}};
connection.createDataChannel('x');
connection.createOffer().then(offer => connection.setLocalDescription(offer));
</script>"""
A_RECORD = 1


class UdpListener:
    """Counts the datagrams that reach a port of loopback."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0) -> None:
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind((address, port))
        self._socket.settimeout(0.05)
        self.port = self._socket.getsockname()[1]
        self.datagrams = 0
        self._is_closing = False
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def close(self) -> None:
        self._is_closing = True
        self._thread.join()
        self._socket.close()

    def answer(self, datagram: bytes) -> bytes | None:
        """Say nothing, as a wall would."""

    def _listen(self) -> None:
        while not self._is_closing:
            try:
                datagram, sender = self._socket.recvfrom(65536)
            except TimeoutError:
                continue
            self.datagrams += 1
            if (answer := self.answer(datagram)) is not None:
                self._socket.sendto(answer, sender)


class NameServer(UdpListener):
    """A DNS server on port 53 that says 127.0.0.1 to everything, and keeps what it was asked."""

    def __init__(self, address: str) -> None:
        self.asked: set[str] = set()
        super().__init__(address, 53)

    def answer(self, datagram: bytes) -> bytes:
        labels, at = [], 12
        while length := datagram[at]:
            labels.append(datagram[at + 1 : at + 1 + length].decode())
            at += length + 1
        self.asked.add(".".join(labels).lower())
        (kind,) = struct.unpack("!H", datagram[at + 1 : at + 3])
        found = b"\xc0\x0c\0\1\0\1\0\0\0\5\0\4\x7f\0\0\1" if kind == A_RECORD else b""
        counts = struct.pack("!HHHH", 1, bool(found), 0, 0)
        return datagram[:2] + b"\x81\x80" + counts + datagram[12 : at + 5] + found


class LeakyProxy:
    """An HTTP proxy that shows the leaky page for every name, and tunnels nothing."""

    def __init__(self, stun_port: int) -> None:
        self.asked: list[str] = []
        proxy, body = self, PAGE.format(port=stun_port).encode()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                proxy.asked.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_CONNECT(self) -> None:
                proxy.asked.append(self.path)
                self.send_response(502)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.block_on_close = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def at(self, host: str) -> Proxy:
        """The proxy, by a name or address of this machine."""
        return Proxy("http", host, self._server.server_port)

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
