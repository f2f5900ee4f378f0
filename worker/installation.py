"""Where Nightshift's own files are: in its checkout, or inside the installed package.

`sql/` and the demo site stand beside `worker/` in the checkout; a wheel has them in
`worker/_bundle/`. `own_files` alone decides which it is.
"""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_BUNDLE = _PACKAGE / "_bundle"
LAUNCHER, INSTALLED = "launcher.py", "nightshift"
_command: str | None = None
# `--project` and its folder, if they were typed.
_project = ""
# How commands are written in messages: only what is followed by a command, a flag or nothing.
_COMMAND = re.compile(
    r"(?<![\w./-])(?:python )?launcher\.py(?! --project)(?=$|\s*$| [a-z-]|[.,;:)`<·])", re.M
)

# What sets a machine up: in the checkout, and where there is none.
_SETUP = "`make setup`"
_SETUP_BY_HAND = "`apt-get install chromium-headless-shell default-mysql-server-core libatomic1`"


def own_files() -> Path:
    """Return the folder that holds `sql/` and `examples/demo_site/`."""
    return _BUNDLE if _BUNDLE.is_dir() else _PACKAGE.parent


def checkout() -> Path | None:
    """Return the checkout that this code runs from; None when it is installed as a package."""
    return None if _BUNDLE.is_dir() else _PACKAGE.parent


def launcher() -> list[str]:
    """Return how to start another launcher: with `launcher.py`, or with the package."""
    folder = checkout()
    if folder is None:
        return [sys.executable, "-m", "nightshift"]
    return [sys.executable, str(folder / "launcher.py")]


def use_command(name: str) -> None:
    """Say which command was typed, for this process and all that it forks."""
    global _command  # noqa: PLW0603 - a process was started by one command.
    _command = name


def use_project(folder: str | None) -> None:
    """Say which project was named by the flag, if one was: commands in messages name it, too."""
    global _project  # noqa: PLW0603 - as above.
    _project = "" if folder is None else f" --project {shlex.quote(folder)}"


def named_project() -> str:
    """Return the flag that names the project as it was typed, behind a blank; "" without one."""
    return _project


def command_name() -> str:
    """Name the command as it is typed here: `nightshift` where it is installed."""
    return _command or (LAUNCHER if checkout() is not None else INSTALLED)


def command_line(*words: object) -> str:
    """Write a command for a person to copy: each word is one word to a shell, whatever is in it.

    Names come from URLs and rows, which strangers write; nothing in them may run as a command.
    """
    return shlex.join([LAUNCHER, *map(str, words)])


def as_typed(text: str) -> str:
    """Write the commands in a message as they are typed here."""
    if checkout() is None:
        text = text.replace(_SETUP, _SETUP_BY_HAND)
    if LAUNCHER not in text or (command_name() == LAUNCHER and not _project):
        return text
    name = command_name() + _project
    return _COMMAND.sub(lambda _: name, text)
