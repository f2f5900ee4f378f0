"""Evidence of a task that does not come back: what its browser had said at its timeout.

The worker's watchdog keeps it in a file of its slot. If the launcher then has to kill the worker,
the process that settles the job takes it from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worker.evidence.known_secrets import mask_json
from worker.evidence.redaction import redact_json
from worker.evidence.terminal_text import printable
from worker.system.durable_file import write_durably

if TYPE_CHECKING:
    from worker.browser.session import BrowserSession


def path_of(state_dir: Path, database: str, slot: int) -> Path:
    """Name the file of a slot; pools on several databases may share one state folder."""
    return state_dir / "last_words" / f"{database}-{slot}.json"


def keep(
    path: Path,
    session: BrowserSession,
    *,
    job_id: int | None,
    fence: int,
    steps: Iterable[dict[str, str]] = (),
) -> None:
    """Write down what the recorder has heard; asks the browser nothing, so any thread may call it.

    Raises OSError when it cannot be written.
    """
    words = {
        "job_id": job_id,
        "fence": fence,
        "final_url": session.recorder.last_url,
        "steps": redact_json(list(steps)),
        "console": session.recorder.console_text(),
        "network": session.recorder.network(),
    }
    text = json.dumps(mask_json(words), ensure_ascii=False, default=str)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_durably(path, text.encode("utf-8", "replace"))


def take_over(path: Path, *, job_id: int, fence: int, folder: Path) -> dict[str, Any]:
    """Put a dead worker's words into the evidence folder of the claim that they are of.

    Return `final_url` and `steps` for its error.json; nothing when there are no such words. Raises
    OSError when the folder cannot be written.
    """
    try:
        words = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    if (words["job_id"], words["fence"]) != (job_id, fence):
        return {}
    _save(folder / "console.log", words["console"])
    _save(folder / "network.json", json.dumps(words["network"], indent=2) + "\n")
    return {"final_url": words["final_url"], "steps": words["steps"]}


def _save(path: Path, text: str) -> None:
    write_durably(path, printable(text).encode("utf-8", "replace"))
