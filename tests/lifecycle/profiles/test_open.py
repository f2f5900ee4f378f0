"""`profiles open`: a real window on a real display, behind the profile's proxy, as a checkout."""

from __future__ import annotations

import os
import shutil
import signal
import struct
import subprocess
from pathlib import Path

import pytest

from tests.lifecycle.conftest import wait_until
from worker.browser.options import find_full_browser
from worker.browser.providers import profile_lock
from worker.errors import LaunchFailed
from worker.profiles import leases, store
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


def _has_windows() -> bool:
    try:
        find_full_browser()
    except LaunchFailed:
        return False
    return shutil.which("Xvfb") is not None


pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(
        not _has_windows(), reason="deploy/setup-tests.sh gets xvfb and a full chromium"
    ),
]


class Screen:
    """A display in memory, whose picture is a file."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        reader, writer = os.pipe()
        self._process = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "800x600x24", "-nolisten", "tcp",
             "-fbdir", str(folder)],
            pass_fds=[writer],
            stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(writer)
        with os.fdopen(reader) as number:
            self.name = f":{number.readline().strip()}"
        self._picture = folder / "Xvfb_screen0"

    @property
    def lit(self) -> float:
        """How much of the screen is not black."""
        data = self._picture.read_bytes()
        # An X window dump begins with the size of its header, and colours follow that.
        start = struct.unpack(">I", data[:4])[0] + 12 * struct.unpack(">I", data[76:80])[0]
        pixels = data[start : start + 800 * 600 * 4]
        return 1 - sum(not any(pixels[at : at + 3]) for at in range(0, len(pixels), 4)) / 480_000

    def close(self) -> None:
        self._process.terminate()
        self._process.wait(10)


@pytest.fixture
def screen(tmp_path):
    screen = Screen(tmp_path / "screen")
    yield screen
    screen.close()


@pytest.fixture
def behind_berlin(database):
    proxies.add(database, Proxy("http", "127.0.0.1", 9, name="berlin"))


@pytest.mark.parametrize("ending", ["closed", "interrupted"])
def test_a_profile_is_open_on_the_screen_until_its_browser_is_closed(
    launch, database, add, screen, behind_berlin, ending
):
    folder = add("p1", proxy="berlin")
    command = launch("profiles", "open", "p1", "--reason", "log in", DISPLAY=screen.name)

    wait_until(lambda: "is open" in command.stdout, "it is open", 60)
    wait_until(lambda: screen.lit > 0.3, "a window is seen", 30)
    (lease,) = leases.of_profile(database, "p1")
    assert (bool(lease["is_person"]), "log in" in lease["holder"]) == (True, True)
    (browser,) = profile_lock.browsers_using(folder)
    arguments = Path(f"/proc/{browser.pid}/cmdline").read_text().split("\0")
    assert "--proxy-server=http://127.0.0.1:9" in arguments
    assert not {"--headless", "--enable-automation"} & {each.split("=")[0] for each in arguments}

    if ending == "closed":
        os.kill(browser.pid, signal.SIGTERM)
    else:
        command.signal(signal.SIGINT)
    assert command.wait(30) == 0
    assert "returned p1; it is available" in command.stdout

    profile = store.get(database, "p1")
    assert (profile["state"], leases.of_profile(database, "p1")) == ("available", [])
    assert profile["contents"] in ("folder", "cookies")
    assert not profile_lock.browsers_using(folder)
    assert store.history(database, "p1", 1)[0]["reason"] == "its browser was closed"
