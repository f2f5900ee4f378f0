"""Settings that are secrets, and so are named rather than written: `env:NAME` and `file:PATH`.

A variable that is read is taken out of the environment, so that no worker or browser inherits it.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from pathlib import Path

from worker.errors import SettingsError


def is_reference(value: str) -> bool:
    """Tell whether a value only says where the real one is."""
    return value.startswith(("env:", "file:"))


def file_of(value: str) -> Path | None:
    """Return the file that a value refers to, if it refers to one."""
    return Path(value.removeprefix("file:")).expanduser() if value.startswith("file:") else None


def urls_of(value: str, environ: MutableMapping[str, str], setting: str) -> list[str]:
    """Return the URLs that a value of a setting stands for; raises SettingsError for none."""
    if value.startswith("env:"):
        name = value.removeprefix("env:")
        found = environ.pop(name, "")
        if not found.split():
            raise SettingsError(f"{setting} env:{name}: {name} is not set; write a URL into it")
        return found.split()
    if (path := file_of(value)) is None:
        return [value]
    urls = [line.strip() for line in text_of(path, f"{setting} file:{path}").splitlines()]
    urls = [url for url in urls if url and not url.startswith("#")]
    if not urls:
        raise SettingsError(f"{setting} file:{path} holds no URL; write one a line")
    return urls


def text_of(path: Path, setting: str) -> str:
    """Read a file that a setting names; raises SettingsError that says why it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise SettingsError(f"{setting} cannot be read: {reason}") from error
