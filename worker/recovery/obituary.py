"""Evidence of a death: what the launcher knows of a worker that could not speak for itself.

The worker's last lines hold, after a hang, the Python stack it was stuck in.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from worker.evidence.files import new_attempt_folder
from worker.evidence.redaction import printable, redact_text
from worker.models import Cause, Claim, Ending, Outcome
from worker.system.durable_file import write_durably


def ending_of(death: dict[str, Any]) -> Ending:
    """Say what a worker's death means for the job it was doing."""
    outcome = Outcome(death["outcome"])
    # A job that ran past its time is its task's fault; any other death is the pool's trouble.
    cause = Cause.CODE if outcome is Outcome.TIMED_OUT else Cause.POOL
    return Ending(outcome, death["ending"], cause, last_step=death["step"] or None)


def write(errors_dir: Path, claim: Claim, death: dict[str, Any]) -> str:
    """Leave error.json and output.log for a dead worker's job; return its folder, or OSError."""
    report = {
        "job_id": claim.job_id,
        "attempt": claim.attempt,
        "fence": claim.fence,
        "task": claim.task,
        "outcome": death["outcome"],
        "cause": ending_of(death).cause,
        "ending": death["ending"],
        "worker_slot": death["slot"],
        "incarnation": death["incarnation"],
        "doing": redact_text(death["label"]),
        "last_step": death["step"] or None,
        "seconds": round(death["seconds"], 1),
    }
    output = "".join(f"{redact_text(printable(line))}\n" for line in death["output"])
    folder = new_attempt_folder(errors_dir, claim.job_id, claim.attempt)
    write_durably(folder / "error.json", json.dumps(report, indent=2).encode() + b"\n")
    write_durably(folder / "output.log", output.encode("utf-8", "replace"))
    return f"{claim.job_id}/{claim.attempt}"
