"""One fault at work: what it may reach, whom it hits, and what is later known of it."""

from __future__ import annotations

import random
import threading
import time
from dataclasses import dataclass, field

from worker.drill.pool import Pool
from worker.drill.scratch import Scratch
from worker.drill.targets import Register
from worker.drill.world import World
from worker.system.process_tree import ProcessId, is_alive


class NoTarget(Exception):
    """There is nothing that this fault could hit now."""


@dataclass(slots=True)
class Strike:
    """One fault at work: what it may reach, and what is later known of it."""

    world: World
    pool: Pool
    register: Register
    rng: random.Random
    is_over: threading.Event
    kind: str = ""
    # The processes that were hit; None when the whole pool was.
    victims: list[int] | None = None
    struck_at: float = 0.0
    # The same moment by the clock that the server has too.
    struck_at_wall: float = 0.0
    ended_at: float = 0.0
    # Set once it has struck, or has found nobody to hit.
    is_decided: threading.Event = field(default_factory=threading.Event)
    problem: BaseException | None = None
    # Whether the deed was done; what fails after it belongs to the undoing.
    is_done: bool = False
    # Why the deed failed after it had begun: then it never happened, and does not count.
    miss: str = ""
    # What the pool has done that it must not do under this fault.
    complaints: list[str] = field(default_factory=list)

    @property
    def scratch(self) -> Scratch:
        """The world of a drill with one server."""
        assert isinstance(self.world, Scratch)
        return self.world

    def begin(self, *victims: ProcessId) -> None:
        """Note the moment of the strike, and whom it hits."""
        self.victims = [victim.pid for victim in victims] or None
        self.struck_at_wall, self.struck_at = time.time(), time.monotonic()
        self.is_decided.set()

    def complain(self, text: str) -> None:
        """Note a promise that the pool has broken; the drill is not clean then."""
        self.complaints.append(f"{self.kind}: {text}")

    def last(self, least: float, most: float) -> None:
        """The deed is done: let it last a random while; the end of the drill ends it."""
        self.is_done = True
        self.is_over.wait(self.rng.uniform(least, most))

    def last_while_alive(self, process: ProcessId, seconds: float) -> None:
        """Let the fault last until its victim has ended, or at most for `seconds`."""
        deadline = time.monotonic() + seconds
        while is_alive(process) and time.monotonic() < deadline:
            if self.is_over.wait(0.05):
                return

    def launcher(self) -> int:
        pid = self.pool.pid
        if pid is None:
            raise NoTarget
        return pid

    def worker(self) -> ProcessId:
        found = self.register.workers(self.launcher())
        if not found:
            raise NoTarget
        return self.rng.choice(found)

    def heart(self) -> ProcessId:
        return required(self.register.heart(self.launcher()))


def required(process: ProcessId | None) -> ProcessId:
    """Insist on a target; raises NoTarget when there is none."""
    if process is None:
        raise NoTarget
    return process
