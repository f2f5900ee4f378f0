#!/usr/bin/env python3
"""Nightshift's entry point: `python launcher.py --workers 6`. Everything else is in `worker/`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parent


def use_own_environment() -> None:
    """Start again under `.venv`'s Python, so that a cron line needs no wrapper.

    A virtualenv that is active stays in use, if Nightshift's packages are in it.
    """
    if sys.prefix != sys.base_prefix and find_spec("click") and find_spec("playwright"):
        return
    python = ROOT / ".venv" / "bin" / "python"
    if python.exists() and Path(sys.prefix).resolve() != (ROOT / ".venv").resolve():
        os.execv(python, [str(python), str(ROOT / "launcher.py"), *sys.argv[1:]])


def main() -> None:
    use_own_environment()
    sys.path.insert(0, str(ROOT))
    try:
        from worker.cli.main import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"nightshift: {error.name} is not installed; run: make setup")
    run()


if __name__ == "__main__":
    main()
