"""May other users of this machine read settings, secrets or evidence? Asked by `doctor`."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from worker.cli.connection import state_dir
from worker.cli.options import errors_dir
from worker.errors import SettingsError
from worker.project import env_file, project_dir, results_dir
from worker.system.private_files import close_to_others, is_open_to_others, open_inside
from worker.tasks import named_secrets


def check() -> str:
    """Say that all is private; raises SettingsError with what to type for what is not."""
    found = list(_open_places())
    if found:
        open_ones = ", ".join(str(path) for path in found)
        commands = " ".join(shlex.quote(str(path)) for path in found)
        raise SettingsError(f"other users may read {open_ones}; type: chmod -R go= {commands}")
    return "no other user may read .env, secrets, evidence, results or state"


def close_own(folder: Path) -> None:
    """Close the project's own folder of evidence, before something is written there.

    A clone has it with the rights of the shell. One that somebody chose may be shared.
    """
    if folder == project_dir() / "errors":
        close_to_others(folder)


def _open_places() -> Iterator[Path]:
    settings = env_file()
    if settings.is_file() and is_open_to_others(settings):
        yield settings
    if secrets := os.environ.get(named_secrets.FOLDER):
        folder = Path(secrets).absolute()
        if open_inside(folder) is not None:
            yield folder
    for folder in (errors_dir().absolute(), results_dir().absolute()):
        if open_inside(folder) is not None:
            yield folder
    # Unpacked programs and the log of the set-up are there as well, and hold nothing secret.
    state = state_dir().absolute()
    if is_open_to_others(state):
        yield from (
            path
            for path in sorted(state.glob("*/"))
            if not path.name.startswith("mysql-") and is_open_to_others(path)
        )
