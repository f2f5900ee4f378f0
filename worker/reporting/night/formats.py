"""The formats of a night's report, by name, and a file that only its owner may read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from worker.installation import as_typed
from worker.reporting.night.as_html import html
from worker.reporting.night.as_json import as_json
from worker.reporting.night.as_markdown import markdown
from worker.reporting.night.as_text import text
from worker.reporting.night.model import Night
from worker.system.durable_file import write_durably

WRITERS: dict[str, Callable[[Night], str]] = {
    "text": text,
    "md": markdown,
    "html": html,
    "json": as_json,
}
ENDINGS = {".txt": "text", ".md": "md", ".html": "html", ".htm": "html", ".json": "json"}


def save(content: str, path: Path) -> None:
    """Put a file in its place at once, readable by its owner alone; raises OSError."""
    write_durably(path, as_typed(content).encode("utf-8", "replace"))


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
