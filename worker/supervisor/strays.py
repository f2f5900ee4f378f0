"""What tasks leave behind: children that they forked, or programs they started, and forgot.

The launcher adopts every orphan of its workers. Those in a dead worker's process group are ended
with it; those that hid in a session of their own are ended with the run.
"""

from __future__ import annotations

import os

from worker.database.server_process import is_private_server
from worker.system.process_tree import all_processes, descendants, kill_tree


class Strays:
    """Knows what the launcher's process had started before the pool, which is not the pool's."""

    def __init__(self) -> None:
        self._known = {stat.id for stat in descendants(os.getpid())}

    def end_group_of(self, worker: int, *, driver: int = 0) -> int:
        """End what tasks left in a dead worker's process group; return how many processes.

        The worker's own driver is in that group too: somebody else ends it, and it does not count.
        """
        left = [
            stat.id
            for stat in all_processes()
            if stat.group == worker
            and stat.parent == os.getpid()
            and stat.pid != driver
            and not stat.is_dead
        ]
        return sum(map(kill_tree, left))

    def end_all(self) -> int:
        """End whatever else was started under the launcher; return how many processes."""
        left = [
            stat.id
            for stat in descendants(os.getpid())
            # A server that a worker has started again outlives the run.
            if stat.id not in self._known and not is_private_server(stat.pid)
        ]
        return sum(map(kill_tree, left))
