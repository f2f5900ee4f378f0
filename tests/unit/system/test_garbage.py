"""A worker searches for cycles seldom, and not through what it was built of."""

from __future__ import annotations

import subprocess
import sys

from worker.system import garbage

SCRIPT = """
import gc
from worker.system import garbage

class Knot:
    def __init__(self):
        self.itself = self

kept = [Knot() for _ in range(100)]
garbage.collect_seldom()
assert gc.get_freeze_count() > 100
assert gc.get_threshold()[0] == garbage.YOUNG_OBJECTS
assert not any(each is kept[0] for each in gc.get_objects())

found = []
gc.callbacks.append(lambda phase, info: found.append(info.get("collected", 0)))
for _ in range(20_000):
    Knot()
assert sum(found) > 10_000, found
"""


def test_cycles_are_still_found_but_not_among_what_stays():
    # In a process of its own: it is for good.
    assert garbage.YOUNG_OBJECTS < 20_000
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, timeout=60)


def test_what_is_shared_with_children_is_searched_by_none_of_them():
    script = """
import gc, os
from worker.system import garbage

with garbage.unsearched():
    assert not gc.isenabled()
assert gc.isenabled()
kept = [[]]
garbage.share_with_children()
if pid := os.fork():
    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
assert not any(each is kept for each in gc.get_objects())
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
