"""Run the receiver: `NIGHTSHIFT_WEBHOOK_SECRET=… python examples/webhook_receiver --port 8787`.

The first line on stdout is the URL to call back; every new event is one more line.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path

if not __package__:
    # Started by its directory's name, Python knows the way to this file but not to its siblings.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.webhook_receiver.receiver import Inbox, serve


def main() -> int:
    """Receive until SIGINT or SIGTERM."""
    parser = argparse.ArgumentParser(prog="webhook_receiver", description=__doc__)
    parser.add_argument("--port", type=int, default=8787)
    parser.add_argument("--store", type=Path, default=Path("events.sqlite"))
    arguments = parser.parse_args()
    secret = os.environ.get("NIGHTSHIFT_WEBHOOK_SECRET", "")
    if not secret:
        print("webhook receiver: set NIGHTSHIFT_WEBHOOK_SECRET", file=sys.stderr)
        return 78
    # Blocked before any thread exists, the signals wait for sigwait and interrupt nothing.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        with serve(secret, Inbox(arguments.store), arguments.port) as url:
            print(url, flush=True)
            signal.sigwait({signal.SIGINT, signal.SIGTERM})
    except OSError as error:
        print(f"webhook receiver: port {arguments.port}: {error.strerror}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
