"""The peers' own servers: Redis and PostgreSQL, each in a scratch folder that is gone afterwards.

They listen on unix sockets alone. PostgreSQL refuses to run as root, so there it runs as the user
that its package has made.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

START_SECONDS = 30.0
STOP_SECONDS = 20.0
POSTGRESQL_USER = "postgres"


@contextmanager
def redis(*, is_durable: bool) -> Iterator[dict[str, str]]:
    """Run Redis meanwhile; gives what its clients need in their environment.

    Durable: every write is on disk before it is answered. Otherwise nothing is kept at all.
    """
    kept = ("yes", "always") if is_durable else ("no", "no")
    with _folder() as folder:
        socket = folder / "redis.sock"
        command = [
            *("redis-server", "--port", "0", "--unixsocket", str(socket), "--dir", str(folder)),
            *("--save", "", "--appendonly", kept[0], "--appendfsync", kept[1]),
        ]
        with _running(command, folder / "log", socket.exists):
            yield {"BENCH_REDIS": str(socket)}


@contextmanager
def postgresql() -> Iterator[dict[str, str]]:
    """Run PostgreSQL meanwhile with its own defaults, durable ones; gives its address likewise."""
    programs = _postgresql_programs()
    user = POSTGRESQL_USER if os.geteuid() == 0 else None
    with _folder() as folder:
        if user:
            shutil.chown(folder, user, user)
        data = folder / "data"
        made = subprocess.run(
            [programs / "initdb", "-D", data, "-U", "bench", "-A", "trust", "--no-sync"],
            capture_output=True, text=True, check=False, cwd=folder, user=user, group=user,
        )  # fmt: skip
        if made.returncode:
            raise RuntimeError(f"initdb: {made.stderr.strip().splitlines()[-1:]}")
        command = [
            *(str(programs / "postgres"), "-D", str(data), "-k", str(folder)),
            *("-c", "listen_addresses=", "-c", "max_connections=100"),
        ]
        ready: list[Path | str] = [
            programs / "pg_isready",
            "-q",
            "-h",
            folder,
            "-U",
            "bench",
            "-d",
            "postgres",
        ]
        with _running(command, folder / "log", lambda: subprocess.call(ready) == 0, user):
            yield {"BENCH_POSTGRESQL": f"host={folder} user=bench dbname=postgres"}


def versions() -> dict[str, str]:
    """Name the servers that are there."""
    programs = ("redis-server", str(_postgresql_programs() / "postgres"))
    return {
        Path(program).name: subprocess.run(
            [program, "--version"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for program in programs
    }


def _postgresql_programs() -> Path:
    """Find the newest PostgreSQL's programs; raises RuntimeError when there are none."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parts[4]))
    if not found:
        raise RuntimeError("there is no PostgreSQL: deploy/setup-peers.sh")
    return found[-1]


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="nightshift-peer-") as name:
        yield Path(name)


@contextmanager
def _running(
    command: Sequence[str], log: Path, is_ready: Callable[[], bool], user: str | None = None
) -> Iterator[None]:
    with log.open("wb") as out:
        server = subprocess.Popen(
            command, stdout=out, stderr=out, cwd=log.parent, user=user, group=user
        )
    try:
        deadline = time.monotonic() + START_SECONDS
        while not is_ready():
            if server.poll() is not None or time.monotonic() > deadline:
                last = log.read_text(encoding="utf-8", errors="replace").splitlines()[-1:]
                raise RuntimeError(f"{Path(command[0]).name} does not start: {last}")
            time.sleep(0.05)
        yield
    finally:
        # PostgreSQL: SIGINT is its fast shutdown, without waiting for clients.
        server.send_signal(2)
        try:
            server.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()
