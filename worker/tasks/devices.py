"""The devices that the installed Playwright can be: asked of its driver's own program, once.

That takes a third of a second, in a process of its own, and only where a device is named.
"""

from __future__ import annotations

import functools
import importlib.util
import json
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from worker.context_fields import nearest
from worker.errors import LaunchFailed
from worker.system.private_environment import without_secrets

ASK_SECONDS = 30.0
_LIST = "process.stdout.write(JSON.stringify(require(process.argv[1]).devices))"
_CAPITAL = re.compile(r"[A-Z]")
# Of no meaning for a context: which browser Playwright would take for that device by itself.
_NOT_OF_CONTEXTS = "default_browser_type"


def problem_of(name: str) -> str | None:
    """Say that there is no such device, with the nearest; raises LaunchFailed if nobody knows."""
    if name in known():
        return None
    # There are two hundred: all of them would be no help.
    near = nearest(name[:100], known())
    hint = near if near.startswith("did") else 'as "iPhone 15", "Pixel 7" or "Desktop Chrome"'
    return f"device: Playwright knows no {name!r:.60}; {hint}"


def options_of(name: str) -> dict[str, Any]:
    """Say what a context must be made with to be a device that there is."""
    return dict(known()[name])


@functools.cache
def known() -> Mapping[str, Mapping[str, Any]]:
    """Read the list, by name, in the words of `Browser.new_context`; raises LaunchFailed."""
    driver = _driver()
    node = os.environ.get("PLAYWRIGHT_NODEJS_PATH") or str(driver / "node")
    try:
        done = subprocess.run(
            [node, "-e", _LIST, str(driver / "package")],
            env=without_secrets(os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ASK_SECONDS,
            check=True,
        )
        found = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        raise LaunchFailed(
            f"Playwright does not tell its devices ({type(error).__name__}): run `make setup`"
        ) from error
    return {name: _in_python(each) for name, each in found.items()}


def _driver() -> Path:
    # Found without being imported: of all rooms, only the browser's uses the library.
    spec = importlib.util.find_spec("playwright")
    places = spec.submodule_search_locations if spec is not None else None
    return Path((places or ["playwright"])[0]) / "driver"


def _in_python(descriptor: Mapping[str, Any]) -> dict[str, Any]:
    named = {_CAPITAL.sub(lambda at: f"_{at[0].lower()}", k): v for k, v in descriptor.items()}
    return {name: value for name, value in named.items() if name != _NOT_OF_CONTEXTS}
