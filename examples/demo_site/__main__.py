"""Run the demo site until told to stop: `python examples/demo_site --port 0`.

The first line on stdout is the base URL, and nothing follows it.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import signal
import sys
from pathlib import Path

if not __package__:
    # Started by its directory's name, Python knows the way to this file but not to its siblings.
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from examples.demo_site.server import serve

STOP_SIGNALS = {signal.SIGINT, signal.SIGTERM}
PR_SET_PDEATHSIG = 1


def main() -> int:
    """Serve until SIGINT or SIGTERM, or until the parent is gone if that was asked for."""
    arguments = _read_arguments()
    # Blocked before any thread exists, the signals wait for sigwait and interrupt nothing.
    signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    if arguments.exit_with_parent:
        _follow_parent()
    try:
        with serve(arguments.port) as base_url:
            _announce(base_url, arguments.port_file)
            signal.sigwait(STOP_SIGNALS)
    except OSError as error:
        print(f"demo site: cannot serve on port {arguments.port}: {error}", file=sys.stderr)
        return 1
    finally:
        if arguments.port_file:
            arguments.port_file.unlink(missing_ok=True)
    return 0


def _read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="demo_site", description="A web shop to practise on.")
    parser.add_argument("--port", type=_port, default=0, help="0 (the default) takes any free one")
    parser.add_argument("--port-file", type=Path, help="write the port here; removed at exit")
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="stop when the starting process ends"
    )
    return parser.parse_args()


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 65535")
    return port


def _follow_parent() -> None:
    """Have the kernel send SIGTERM when the parent ends, or do so if it just has."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGTERM)


def _announce(base_url: str, port_file: Path | None) -> None:
    if port_file:
        # Renamed into place, the file is never seen half written.
        unfinished = port_file.with_name(f"{port_file.name}.{os.getpid()}")
        unfinished.write_text(f"{base_url.rpartition(':')[2]}\n")
        unfinished.replace(port_file)
    print(base_url, flush=True)


if __name__ == "__main__":
    sys.exit(main())
