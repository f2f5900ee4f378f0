"""Secrets that a job names instead of holding them: read from a file or from the environment.

What was read is masked from then on, in logs, evidence, the database and the job's result. The
pool's own settings are no secrets of a job: a payload may be a stranger's.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from worker.errors import Fail
from worker.evidence import known_secrets
from worker.system.private_environment import is_of_the_pool

FOLDER = "NIGHTSHIFT_SECRETS_DIR"
MAX_BYTES = 100_000

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


def read(name: str) -> str:
    """Return the secret of that name and keep it out of everything that is written.

    Raises Fail, which says what to do, when there is none or it could not be masked.
    """
    value = check(name)
    known_secrets.add_named(value)
    return value


def check(name: str) -> str:
    """Do the same for somebody who only asks whether it can be read, and writes nothing of it."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise Fail(
            f"a secret cannot be named {str(name)[:60]!r}; use letters, digits and _, as in "
            "SHOP_PASSWORD"
        )
    value = _from_file(name)
    if not value and is_of_the_pool(name):
        raise Fail(
            f"{name} is a setting of the pool or its machine, and no job may read it; "
            f"a secret of that name can be a file in {FOLDER}"
        )
    value = value or os.environ.get(name)
    if not value:
        raise Fail(
            f"there is no secret {name}: put it into the file {_folder() or '$' + FOLDER}/{name} "
            f"(chmod 600), or into the environment or .env as {name}=…, and start the run again"
        )
    if not known_secrets.can_mask(value):
        raise Fail(
            f"the secret {name} is too short or too common a word to be masked where it appears; "
            f"use one of {known_secrets.MIN_LENGTH} characters or more"
        )
    return value


def _folder() -> Path | None:
    folder = os.environ.get(FOLDER)
    return Path(folder) if folder else None


def _from_file(name: str) -> str | None:
    folder = _folder()
    if folder is None:
        return None
    try:
        with (folder / name).open("rb") as file:
            content = file.read(MAX_BYTES)
        # Editors end a file with a line end, which is no part of the secret.
        return content.decode("utf-8").rstrip("\r\n")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        problem = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise Fail(f"the secret {name} in {folder} cannot be read: {problem}") from error
