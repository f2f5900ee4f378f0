"""The `.env` file: `KEY=value` lines that stand beneath the environment."""

from __future__ import annotations

import os
import re
from collections.abc import MutableMapping
from pathlib import Path

from worker.errors import SettingsError


def load_dotenv(path: Path, environ: MutableMapping[str, str] | None = None) -> set[str]:
    """Put the `KEY=value` lines of a file beneath the environment; return the keys it has set.

    A missing file is no error.
    """
    environ = os.environ if environ is None else environ
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return set()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    found: set[str] = set()
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", key.strip()):
            raise SettingsError(f"{path}:{number}: expected KEY=value")
        if key.strip() not in environ:
            environ[key.strip()] = _unquoted(value.strip())
            found.add(key.strip())
    return found


def _unquoted(value: str) -> str:
    if quoted := re.fullmatch(r"""(['"])(.*?)\1(?:\s+#.*)?""", value):
        return quoted[2]
    return re.sub(r"\s+#.*$", "", value)
