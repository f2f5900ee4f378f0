"""Three members that are one database: what both kinds of cluster have in common."""

from __future__ import annotations

import random
import shutil
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from pathlib import Path

from worker.database.client import DatabaseError
from worker.database.server_binary import ServerBinary
from worker.drill.cluster.member import Member
from worker.drill.cluster.network import Network
from worker.errors import DatabaseUnavailable

MEMBERS = 3
HEAL_SECONDS = 120.0
# One that has not come back by itself within this time is told to.
HELP_SECONDS = 8.0
POLL_SECONDS = 0.2
ASK_SECONDS = 3.0


class Cluster(ABC):
    """Members, the network between them, and how each kind is started and asked."""

    kind: str

    def __init__(self, folder: Path, sockets: Path, network: Network, server: ServerBinary) -> None:
        self.folder, self.network, self.server = folder, network, server
        self.members = [
            Member(number, folder / f"m{number}", sockets / f"m{number}.sock")
            for number in network.members
        ]
        for member in self.members:
            (member.folder / "tmp").mkdir(parents=True)

    @abstractmethod
    def bring_up(self) -> None:
        """Make all members, form the cluster and have every one take writes it may take."""

    @abstractmethod
    def start(self, member: Member) -> None:
        """Start a member that was killed or shut down, and have it rejoin."""

    @abstractmethod
    def is_whole(self, member: Member) -> bool:
        """Tell whether a member is in the cluster and up to date. Raises DatabaseError, OSError."""

    @abstractmethod
    def takes_writes(self, member: Member) -> bool:
        """Tell whether clients may write to a member. Raises DatabaseError or OSError."""

    @abstractmethod
    def is_in(self, member: Member) -> bool:
        """Tell whether a member is in the cluster, or on its way. Raises like the others."""

    @abstractmethod
    def leave(self, member: Member) -> None:
        """Have a member leave gracefully while its server goes on."""

    @abstractmethod
    def rejoin(self, member: Member) -> None:
        """Have a member that has left, or was thrown out, come back."""

    @property
    def version(self) -> str:
        """Name server and cluster for a report."""
        version = self.members[0].ask("SELECT VERSION() AS version")[0]["version"]
        return f"{self.kind} ({version}), {len(self.members)} members"

    def primaries(self) -> list[Member]:
        """List the members that take writes now."""
        return self.primaries_among(self.members)

    def primaries_among(self, members: list[Member]) -> list[Member]:
        """List those of some members that take writes now."""
        return [member for member in members if self._is(self.takes_writes, member)]

    def heal(self) -> None:
        """Wait until every member is whole again; help the one that does not come by itself.

        Raises DatabaseUnavailable when one stays away.
        """
        deadline = time.monotonic() + HEAL_SECONDS
        help_at = time.monotonic() + HELP_SECONDS
        while broken := [m for m in self.members if not self._is(self.is_whole, m)]:
            if time.monotonic() > deadline:
                names = ", ".join(member.name for member in broken)
                raise DatabaseUnavailable(f"{names} did not come back within {HEAL_SECONDS:g} s")
            if time.monotonic() > help_at:
                help_at = time.monotonic() + HELP_SECONDS
                self._help(broken)
            time.sleep(POLL_SECONDS)

    def pids(self) -> set[int]:
        """Name the servers that run."""
        return {member.pid for member in self.members if member.pid is not None}

    def close(self) -> None:
        """End every server at once: nothing of it is needed any more."""
        for member in self.members:
            member.kill()

    def any_member(self, rng: random.Random) -> Member:
        """Choose a member."""
        return rng.choice(self.members)

    def _help(self, broken: list[Member]) -> None:
        # The others are not whole only because of those that are out. If nobody is out, somebody
        # does not see that another is back: a connection between the two stays broken.
        out = [member for member in broken if not self._is(self.is_in, member)]
        blind = broken if len(broken) < len(self.members) else []
        for member in out or blind:
            try:
                if member.pid is None:
                    self.start(member)
                else:
                    self.rejoin(member)
            except (DatabaseError, OSError, DatabaseUnavailable):
                # It is asked again, until there is no time left.
                continue

    def _is(self, what: Callable[[Member], bool], member: Member) -> bool:
        try:
            return member.pid is not None and what(member)
        except (DatabaseError, OSError):
            return False

    def _copy_data(self, source: Path) -> None:
        """Give every member the same data to begin with."""
        for member in self.members:
            shutil.copytree(source, member.data)
