"""Fill a peer's queue, then watch its workers empty it: `watch.py celery_side 4000`.

It says "filled", and then the rate between a tenth and nine tenths of the jobs: so neither the
start of the workers is in it nor their end.
"""

from __future__ import annotations

import importlib
import sys
import time

DEADLINE_SECONDS = 60.0
POLL_SECONDS = 0.03


def main() -> int:
    """Fill, watch, print the rate."""
    side, jobs = importlib.import_module(sys.argv[1]), int(sys.argv[2])
    side.fill(jobs)
    print("filled", flush=True)
    deadline = time.monotonic() + DEADLINE_SECONDS
    marks: list[tuple[float, int]] = []
    while time.monotonic() < deadline:
        left = side.left()
        if left <= 0.9 * jobs:
            marks.append((time.monotonic(), left))
        if left <= 0.1 * jobs:
            break
        time.sleep(POLL_SECONDS)
    if len(marks) < 2:
        print(f"{sys.argv[1]}: only {jobs - side.left()} of {jobs} jobs done", file=sys.stderr)
        return 1
    (began, before), (ended, after) = marks[0], marks[-1]
    print((before - after) / (ended - began))
    return 0


if __name__ == "__main__":
    sys.exit(main())
