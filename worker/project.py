"""The project folder: `.env`, `nightshift.toml`, `errors/`, `results/` and `.local/` are in it.

It is `--project`, else where the command `nightshift` was started; for `launcher.py` it is the
checkout. Which one it is stands in NIGHTSHIFT_PROJECT, so that every process agrees.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from pathlib import Path

from worker.errors import UsageError
from worker.installation import checkout

VARIABLE = "NIGHTSHIFT_PROJECT"
FILE = "nightshift.toml"


def project_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the project folder."""
    if given := environ.get(VARIABLE):
        return Path(given).absolute()
    return checkout() or Path.cwd()


def choose(folder: str | None, environ: MutableMapping[str, str] = os.environ) -> None:
    """Make a folder the project's; raises UsageError if there is no such folder."""
    if folder is None:
        return
    if not Path(folder).is_dir():
        raise UsageError(f"--project {folder}: there is no such folder")
    environ[VARIABLE] = str(Path(folder).absolute())


def is_project(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether the folder has anything of a project in it, or is the checkout."""
    folder = project_dir(environ)
    own = (folder / FILE, env_file(environ), state_dir(environ))
    return folder == checkout() or any(path.exists() for path in own)


def above(folder: Path) -> Path | None:
    """Return the nearest project above a folder that is none itself: that was probably meant."""
    if (folder / FILE).exists():
        return None
    return next((each for each in folder.parents if (each / FILE).is_file()), None)


def env_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where `KEY=value` lines are read from."""
    return Path(environ.get("NIGHTSHIFT_ENV_FILE") or project_dir(environ) / ".env").absolute()


def errors_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the evidence, by today's settings."""
    return Path(environ.get("NIGHTSHIFT_ERRORS_DIR") or project_dir(environ) / "errors")


def results_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the files that tasks keep."""
    return Path(environ.get("NIGHTSHIFT_RESULTS_DIR") or project_dir(environ) / "results")


def providers_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where the project's own descriptions of browser vendors are."""
    return Path(environ.get("NIGHTSHIFT_PROVIDERS_DIR") or project_dir(environ) / "providers")


def state_dir(environ: Mapping[str, str] = os.environ) -> Path:
    """Return where Nightshift keeps what is neither code nor evidence."""
    return Path(environ.get("NIGHTSHIFT_STATE_DIR") or project_dir(environ) / ".local").absolute()
