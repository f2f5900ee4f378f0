"""The formats of a night's report, by name, and a file that only its owner may read."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from worker.installation import as_typed
from worker.reporting.night.as_html import html
from worker.reporting.night.as_json import as_json
from worker.reporting.night.as_markdown import markdown
from worker.reporting.night.as_text import text
from worker.reporting.night.model import Night

WRITERS: dict[str, Callable[[Night], str]] = {
    "text": text,
    "md": markdown,
    "html": html,
    "json": as_json,
}
ENDINGS = {".txt": "text", ".md": "md", ".html": "html", ".htm": "html", ".json": "json"}


def save(content: str, path: Path) -> None:
    """Put a file in its place at once, readable by its owner alone; raises OSError."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
            file.write(as_typed(content))
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def save_of_run(night: Night, folder: Path) -> list[Path]:
    """Write the report of a run as HTML and JSON into a folder; raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    run = night.window.run
    number = 0 if run is None else run.run_id
    name = f"night-{night.window.local(night.window.start):%Y-%m-%dT%H%M}-run-{number}"
    paths = []
    for kind in ("html", "json"):
        path = folder / f"{name}.{kind}"
        save(WRITERS[kind](night), path)
        paths.append(path)
    return paths
