"""The network of a cluster's drill: links that can be cut, and nothing left at the end."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import closing

import pytest

from worker.drill.cluster import network
from worker.drill.cluster.network import Network

pytestmark = pytest.mark.cluster

LISTEN = "import socket; s = socket.create_server(('', 4567)); print('up', flush=True); s.accept()"
CONNECT = "import socket, sys; socket.create_connection((sys.argv[1], 4567), timeout=2)"


def reaches(net: Network, number: int, other: int) -> bool:
    command = [*net.command(number), sys.executable, "-c", CONNECT, net.address(other)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_member_that_is_cut_off_reaches_nobody_until_its_link_is_mended():
    with closing(Network(2, tag="t")) as net:
        listener = subprocess.Popen(
            [*net.command(2), sys.executable, "-c", LISTEN], stdout=subprocess.PIPE, text=True
        )
        assert listener.stdout is not None
        assert listener.stdout.readline() == "up\n"
        net.cut(1)
        assert not reaches(net, 1, 2)
        net.mend(1)
        deadline = time.monotonic() + 10
        while not reaches(net, 1, 2):
            assert time.monotonic() < deadline
        listener.wait(10)
        listener.stdout.close()
    assert list(network.NAMESPACES.glob(f"nsd{os.getpid()}t-*")) == []
    assert not any(name.startswith(f"nsdb{os.getpid()}t") for _, name in socket.if_nameindex())
