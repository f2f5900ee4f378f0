"""Evidence of a task that does not come back: what its browser had said when its time was over.

The worker's watchdog keeps it in the worker's temporary folder. If the launcher then has to kill
the worker, whoever settles the job takes it over from there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from worker.evidence.redaction import printable, redact_json
from worker.system.durable_file import write_durably

if TYPE_CHECKING:
    from worker.browser.session import BrowserSession

FILE_NAME = "last_words.json"


def keep(
    session: BrowserSession, *, job_id: int, fence: int, steps: Iterable[dict[str, str]] = ()
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
    text = json.dumps(words, ensure_ascii=False, default=str)
    session.options.tmp_dir.mkdir(parents=True, exist_ok=True)
    write_durably(session.options.tmp_dir / FILE_NAME, text.encode("utf-8", "replace"))


def take_over(tmp_dir: Path, slot: int, *, job_id: int, fence: int, folder: Path) -> dict[str, Any]:
    """Put a dead worker's words into the evidence folder of the claim that they are of.

    Return `final_url` and `steps` for its error.json; nothing when there are no such words. Raises
    OSError when the folder cannot be written.
    """
    for path in tmp_dir.glob(f"worker-{slot}-*/{FILE_NAME}"):
        try:
            words = json.loads(path.read_bytes())
        except (OSError, ValueError):
            continue
        if (words["job_id"], words["fence"]) == (job_id, fence):
            console, network = words["console"], json.dumps(words["network"], indent=2)
            _save(folder / "console.log", console)
            _save(folder / "network.json", f"{network}\n")
            return {"final_url": words["final_url"], "steps": words["steps"]}
    return {}


def _save(path: Path, text: str) -> None:
    write_durably(path, printable(text).encode("utf-8", "replace"))
