"""HAProxy before the members: the one port that launchers know, to members that take writes."""

from __future__ import annotations

import csv
import os
import socket
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

from worker.drill.cluster.cluster import Cluster
from worker.drill.cluster.health import Health
from worker.drill.cluster.member import Member
from worker.drill.cluster.needs import program
from worker.errors import DatabaseUnavailable

START_SECONDS = 20.0
STOP_SECONDS = 10.0
BACKEND = "queue"
CONFIGURATION = """\
global
    maxconn 1000
    nbthread 1
    stats socket {control} mode 600 level admin
defaults
    mode tcp
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    timeout check 2s
    retries 1
    option redispatch
listen {backend}
    bind 127.0.0.1:{port}
    balance leastconn
    option httpchk GET /
    default-server check inter 500ms fall 3 rise 2 on-marked-down shutdown-sessions
{servers}
"""


class HAProxy:
    """A running HAProxy, with one health answer for each member."""

    def __init__(self, cluster: Cluster, folder: Path, sockets: Path) -> None:
        self._healths = [
            Health(partial(_takes_writes, cluster, member)) for member in cluster.members
        ]
        self._names = [member.name for member in cluster.members]
        self._control = sockets / "haproxy.sock"
        self.port = _free_port()
        configuration = folder / "haproxy.cfg"
        configuration.write_text(self._configuration(cluster.members), encoding="utf-8")
        with (folder / "haproxy.log").open("ab") as log:
            self._process = subprocess.Popen(
                [program("haproxy"), "-db", "-f", str(configuration)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, "NIGHTSHIFT_DRILL_FOLDER": str(folder)},
                start_new_session=True,
            )
        self._log = folder / "haproxy.log"
        self.wait_until_it_serves()

    @property
    def pid(self) -> int:
        return self._process.pid

    def wait_until_it_serves(self) -> None:
        """Wait until it knows which members take writes, and one answers.

        Raises DatabaseUnavailable when that does not come.
        """
        deadline = time.monotonic() + START_SECONDS
        # It takes every member for a good one until it has asked.
        while not (self._agrees() and self._greets()):
            if self._process.poll() is not None or time.monotonic() > deadline:
                said = self._log.read_text(errors="replace")[-500:]
                raise DatabaseUnavailable(f"HAProxy leads nowhere: {said}")
            time.sleep(0.1)

    def take_out(self, member: Member) -> None:
        """Send nobody to a member any more, and end the sessions that are there."""
        self._tell(f"set server {BACKEND}/{member.name} state maint")
        self._tell(f"shutdown sessions server {BACKEND}/{member.name}")

    def put_back(self, member: Member) -> None:
        """Send clients to a member again."""
        self._tell(f"set server {BACKEND}/{member.name} state ready")

    def close(self) -> None:
        """End HAProxy and the answers about members."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for health in self._healths:
            health.close()

    def _configuration(self, members: Sequence[Member]) -> str:
        servers = "\n".join(
            f"    server {member.name} unix@{member.socket} addr 127.0.0.1 port {health.port}"
            for member, health in zip(members, self._healths, strict=True)
        )
        return CONFIGURATION.format(
            control=self._control, backend=BACKEND, port=self.port, servers=servers
        )

    def _agrees(self) -> bool:
        """Whether it sends clients to those members, and only those, that take writes."""
        with suppress(OSError):
            rows = csv.DictReader(self._tell("show stat").removeprefix("# ").splitlines())
            is_up = [row["status"].startswith("UP") for row in rows if row["svname"] in self._names]
            return is_up == [health.is_good for health in self._healths] and any(is_up)
        return False

    def _greets(self) -> bool:
        """Whether a server greets at the port: HAProxy itself says nothing."""
        where = ("127.0.0.1", self.port)
        with suppress(OSError), socket.create_connection(where, timeout=1.0) as client:
            return bool(client.recv(1))
        return False

    def _tell(self, command: str) -> str:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(5.0)
            control.connect(str(self._control))
            control.sendall(f"{command}\n".encode())
            return b"".join(iter(lambda: control.recv(65536), b"")).decode()


def _takes_writes(cluster: Cluster, member: Member) -> bool:
    return member in cluster.primaries_among([member])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
