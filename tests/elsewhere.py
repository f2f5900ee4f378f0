"""Browsers elsewhere for tests: a Playwright server, and a door with TLS and tokens before CDP.

Each is a real one on loopback, ended by whoever has started it.
"""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import json
import os
import socket
import ssl
import subprocess
import threading
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from playwright._impl._driver import compute_driver_executable

from worker.browser.options import downloaded_shell, find_browser
from worker.system import process_tree
from worker.system.process_tree import ProcessId

# Where the headless shell is within its folder, by the machine's architecture.
LAYOUTS = (
    "chrome-headless-shell-linux64/chrome-headless-shell",
    "chrome-linux/headless_shell",
)


class PlaywrightServer:
    """`playwright run-server` of the installed driver, on a port of its own or a given one."""

    def __init__(self, folder: Path, port: int = 0, path: str = "/", *, unsafe: bool = False):
        node, cli = compute_driver_executable()
        folder.mkdir(parents=True, exist_ok=True)
        arguments = ["--host", "127.0.0.1", "--port", str(port), "--path", path]
        self._log = (folder / "server.log").open("a+", encoding="utf-8")
        self._process = subprocess.Popen(
            [node, cli, "run-server", *arguments, *["--unsafe"] * unsafe],
            stdout=subprocess.PIPE,
            stderr=self._log,
            text=True,
            env=_environment(folder),
            start_new_session=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert "Listening on " in line, line
        self.url = line.split()[-1]
        self.port = int(self.url.split(":")[2].split("/")[0])
        self._seen: set[ProcessId] = set()

    @property
    def browsers(self) -> list[ProcessId]:
        """The browsers that it has started and that live."""
        found = [s.id for s in process_tree.descendants(self._process.pid) if s.leads_group]
        self._seen.update(found)
        return found

    def kill(self) -> None:
        """End it at once, with its browsers, as a machine that loses its power."""
        browsers = self.browsers
        os.killpg(self._process.pid, 9)
        for browser in {*browsers, *self._seen}:
            process_tree.kill_group(browser)
        self._process.wait(10)
        assert self._process.stdout is not None
        self._process.stdout.close()
        self._log.close()

    def stop(self) -> None:
        """End it, if it still runs."""
        if not self._log.closed:
            self.kill()


def _environment(folder: Path) -> dict[str, str]:
    """Let the server find the machine's browser as the one of its own version."""
    kept = {n: v for n, v in os.environ.items() if not n.startswith("NIGHTSHIFT_")}
    if downloaded_shell() is not None:
        return kept
    _, cli = compute_driver_executable()
    known = json.loads((Path(cli).parent / "browsers.json").read_text(encoding="utf-8"))
    (revision,) = (
        b["revision"] for b in known["browsers"] if b["name"] == "chromium-headless-shell"
    )
    home = folder / "browsers" / f"chromium_headless_shell-{revision}"
    for layout in LAYOUTS:
        program = home / layout
        program.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            program.symlink_to(str(find_browser()))
    (home / "INSTALLATION_COMPLETE").touch()
    return {**kept, "PLAYWRIGHT_BROWSERS_PATH": str(folder / "browsers")}


class Door:
    """A TLS proxy before a port of this machine: it lets in who has the token, and nobody else.

    `refusal` turns everybody away with a status; `lost` cuts what is open. Requests are kept.
    """

    def __init__(self, folder: Path, port: int, token: str, *, tls: bool = True) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.token, self.target, self.refusal = token, port, 0
        self.requests: list[tuple[str, str]] = []
        self._streams: set[asyncio.StreamWriter] = set()
        self.authority = folder / "ca.pem"
        context = _certificate(folder, self.authority) if tls else None
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._loop = asyncio.new_event_loop()
        self._server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, sock=self._socket, ssl=context)
        )
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def lose_connections(self) -> None:
        """Cut whatever is open."""
        self._loop.call_soon_threadsafe(lambda: [w.transport.abort() for w in self._streams])

    def close(self) -> None:
        """Stop listening, and cut whatever is open."""
        self.lose_connections()
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.call_later, 0.1, self._loop.stop)
        self._thread.join(10)
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.05))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._streams.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            method, path, _ = lines[0].split()
            self.requests.append((method, path))
            if status := self._status(path, lines[1:]):
                body = b"you are not wanted here"
                writer.write(
                    f"HTTP/1.1 {status} Refused\r\nContent-Length: {len(body)}\r\n"
                    "Connection: close\r\n\r\n".encode()
                    + body
                )
                await writer.drain()
                return
            await self._pass_on(head, reader, writer)
        except (OSError, asyncio.IncompleteReadError, ssl.SSLError, asyncio.CancelledError):
            pass
        finally:
            self._streams.discard(writer)
            writer.close()

    def _status(self, path: str, headers: list[str]) -> int:
        has_token = f"token={self.token}" in path or any(self.token in line for line in headers)
        return self.refusal or (0 if has_token else 401)

    async def _pass_on(
        self, head: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        behind, to = await asyncio.open_connection("127.0.0.1", self.target)
        self._streams.add(to)
        try:
            to.write(head)
            await asyncio.gather(_copy(reader, to), _copy(behind, writer))
        finally:
            self._streams.discard(to)
            to.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    try:
        while data := await source.read(65536):
            sink.write(data)
            await sink.drain()
    finally:
        sink.close()


def _certificate(folder: Path, authority: Path) -> ssl.SSLContext:
    """Make a certificate for localhost that only who knows `authority` trusts."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    authority.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = folder / "key.pem"
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(authority, private)
    return context
