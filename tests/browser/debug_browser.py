"""A Chromium of somebody else's, started for a test."""

from __future__ import annotations

import socket
import subprocess
import time
from pathlib import Path

from worker.browser.options import find_browser
from worker.system import process_tree


class NoBrowser:
    """What only says where it would listen, for tests that never connect."""

    def __init__(self, folder: Path) -> None:
        self.is_running = True
        self.port = 9222
        self.ws_url = f"ws://127.0.0.1:9222/devtools/browser/{folder.name}"

    def stop(self) -> None:
        self.is_running = False


class DebugBrowser:
    """A Chromium of somebody else's, with a port for debugging."""

    def __init__(self, folder: Path, *flags: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "DevToolsActivePort").unlink(missing_ok=True)
        self._log = (folder / "chromium.log").open("w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [
                str(find_browser()),
                "--headless",
                "--no-sandbox",
                "--disable-background-networking",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                *flags,
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            start_new_session=True,
        )
        started = process_tree.identify(self.process.pid)
        assert started is not None
        self._id = started
        self.ws_url = self._read_ws_url(folder / "chromium.log")
        self.port = self._port = int(self.ws_url.split(":")[2].split("/")[0])
        self._path = "/" + self.ws_url.split("/", 3)[3]

    @staticmethod
    def _read_ws_url(log: Path) -> str:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            for line in log.read_text(encoding="utf-8").splitlines():
                if line.startswith("DevTools listening on "):
                    return line.removeprefix("DevTools listening on ").strip()
            time.sleep(0.02)
        raise AssertionError("Chromium never said where it listens")

    @property
    def is_running(self) -> bool:
        return bool(process_tree.group_members(self._id))

    def _ask_to_close(self) -> None:
        """Send `Browser.close` over a websocket of our own: one frame, masked with zeros."""
        message = b'{"id":1,"method":"Browser.close"}'
        with socket.create_connection(("127.0.0.1", self._port), timeout=5) as link:
            link.sendall(
                f"GET {self._path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: bmlnaHRzaGlmdG5pZ2h0cw==\r\n"
                "Sec-WebSocket-Version: 13\r\n\r\n".encode()
            )
            link.recv(4096)
            link.sendall(bytes([0x81, 0x80 | len(message), 0, 0, 0, 0]) + message)
            link.recv(4096)

    def stop(self) -> None:
        """End it as a vendor does: politely, so that its cookies are on disk."""
        # The program is a script that does not wait for the browser it starts: the group counts.
        members = process_tree.group_members(self._id)
        if members:
            self._ask_to_close()
        if not process_tree.wait_dead(members, 5):
            process_tree.kill_group(self._id)
        self.process.wait(10)
        self._log.close()
