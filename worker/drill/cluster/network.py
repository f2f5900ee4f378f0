"""A network of the drill's own: a bridge, and one network namespace for each member.

A member is cut off by taking its link down: no packet passes, and nobody is told. Nothing of the
machine's own networks is touched, and nothing is left at the end.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from worker.drill.cluster.needs import program
from worker.system.process_tree import identify

NAMESPACES = Path("/run/netns")
PREFIX = "nsd"
# Its name within a member's namespace.
LINK = "member0"


class Network:
    """The links between the members, numbered from 1; `tag` tells two of one process apart."""

    def __init__(self, members: int, tag: str = "") -> None:
        self.members = range(1, members + 1)
        self._owner = f"{os.getpid()}{tag}"
        self._bridge = f"{PREFIX}b{self._owner}"
        _ip("link", "add", self._bridge, "type", "bridge")
        _ip("link", "set", self._bridge, "up")
        for number in self.members:
            self._add(number)

    def address(self, number: int) -> str:
        """The address of a member, which only other members reach."""
        return f"10.213.{os.getpid() % 250}.{number}"

    def command(self, number: int) -> list[str]:
        """What to put before a command so that it runs in a member's namespace."""
        return [program("ip"), "netns", "exec", self._namespace(number)]

    def cut(self, number: int) -> None:
        """Cut a member off from all others."""
        _ip("link", "set", self._link(number), "down")

    def mend(self, number: int) -> None:
        """Let a member reach the others again."""
        _ip("link", "set", self._link(number), "up")

    def close(self) -> None:
        """Remove namespaces, links and bridge; a link goes with its namespace."""
        remove(self._owner)

    def _add(self, number: int) -> None:
        name, link = self._namespace(number), self._link(number)
        _ip("netns", "add", name)
        _ip("link", "add", link, "type", "veth", "peer", "name", LINK, "netns", name)
        _ip("link", "set", link, "master", self._bridge)
        _ip("link", "set", link, "up")
        _ip("-n", name, "addr", "add", f"{self.address(number)}/24", "dev", LINK)
        _ip("-n", name, "link", "set", LINK, "up")
        _ip("-n", name, "link", "set", "lo", "up")

    def _namespace(self, number: int) -> str:
        return f"{PREFIX}{self._owner}-{number}"

    def _link(self, number: int) -> str:
        return f"{PREFIX}{self._owner}v{number}"


def remove(owner: str) -> None:
    """Remove the network of a drill, named by its pid, whatever there is of it."""
    for path in NAMESPACES.glob(f"{PREFIX}{owner}-*"):
        _ip("netns", "delete", path.name, check=False)
    _ip("link", "delete", f"{PREFIX}b{owner}", check=False)


def remove_abandoned() -> None:
    """Remove the networks of drills that were killed, whoever has removed their folders."""
    for path in NAMESPACES.glob(f"{PREFIX}*-*"):
        pid = path.name.removeprefix(PREFIX).partition("-")[0]
        if pid.isdigit() and identify(int(pid)) is None:
            remove(pid)


def _ip(*arguments: str, check: bool = True) -> None:
    subprocess.run([program("ip"), *arguments], check=check, capture_output=True, timeout=20)
