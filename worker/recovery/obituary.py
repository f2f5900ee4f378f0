"""Evidence of a death: what the launcher knows of a worker that could not speak for itself.

The worker's last lines hold, after a hang, the Python stack it was stuck in.
"""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import Path
from typing import Any

from worker.browser import evidence_facts, last_words
from worker.evidence import files
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.models import Cause, Claim, Ending, Outcome, StepKind
from worker.recovery.places import Places
from worker.system.durable_file import write_durably
from worker.system.identity import this_host

# The file that is written last: with it the evidence is whole.
_LAST = "output.log"


def ending_of(death: dict[str, Any]) -> Ending:
    """Say what a worker's death means for the job it was doing."""
    outcome = Outcome(death["outcome"])
    # A job that ran past its time is its task's fault; any other death is the pool's trouble.
    cause = Cause.CODE if outcome is Outcome.TIMED_OUT else Cause.POOL
    return Ending(
        outcome,
        death["ending"],
        cause,
        last_step=death["step"] or None,
        irreversible_step=death["step"] if kind_of(death) is StepKind.IRREVERSIBLE else None,
        proxy=death.get("proxy"),
    )


def kind_of(death: dict[str, Any]) -> StepKind:
    """Say how a dead worker's last step is to be read."""
    return StepKind(death.get("step_kind", StepKind.GUESSED))


def of_the_swept(claim: Claim, slot: int, reason: str, seconds: float = 0.0) -> dict[str, Any]:
    """Tell of a worker that nobody saw die what its job's row tells; its claim is `seconds` old."""
    return {
        "slot": slot,
        "incarnation": claim.incarnation,
        "outcome": Outcome.SWEPT.value,
        "ending": reason,
        "label": claim.task,
        "step": claim.irreversible_step or "",
        "seconds": seconds,
        "output": [],
    }


def write(places: Places, claim: Claim, death: dict[str, Any]) -> str:
    """Leave the evidence of a dead worker's job; return its folder within errors/, or OSError.

    What its browser had said when the job's time was over is there too, if its watchdog kept it.
    Several processes may find the same death at once: the first of them writes.
    """
    with files.only_writer(places.errors_dir, claim.job_id):
        if (folder := _written(places, claim, death)) is None:
            folder = _write(places, claim, death)
    return str(folder.relative_to(places.errors_dir))


def _written(places: Places, claim: Claim, death: dict[str, Any]) -> Path | None:
    """Find what another has written of the same death, if it is whole."""
    known = {
        "database": places.database.key,
        "fence": claim.fence,
        "outcome": death["outcome"],
        "ending": death["ending"],
        "incarnation": death["incarnation"],
    }
    job = places.errors_dir / str(claim.job_id)
    for folder in (job / str(claim.attempt), job / f"{claim.attempt}-{places.database.key}"):
        if (folder / _LAST).exists() and known.items() <= files.facts_of(folder).items():
            return folder
    return None


def _write(places: Places, claim: Claim, death: dict[str, Any]) -> Path:
    database = places.database.key
    folder = files.new_attempt_folder(
        places.errors_dir, claim.job_id, claim.attempt, database=database
    )
    words = last_words.take_over(
        places.last_words_of(death["slot"]),
        job_id=claim.job_id,
        fence=claim.fence,
        folder=folder,
    )
    known = KnownSecrets.of_payload(claim.payload)
    report = {
        "job_id": claim.job_id,
        "attempt": claim.attempt,
        "fence": claim.fence,
        "task": claim.task,
        "outcome": death["outcome"],
        "cause": ending_of(death).cause,
        "ending": death["ending"],
        "profile": claim.route.profile,
        "account": claim.route.account,
        "proxy_name": death.get("proxy") or claim.route.proxy,
        "worker_slot": death["slot"],
        "incarnation": death["incarnation"],
        "doing": redact_text(death["label"], known),
        "last_step": redact_text(death["step"], known) or None,
        "irreversible_step": claim.irreversible_step or ending_of(death).irreversible_step,
        "seconds": round(death["seconds"], 1),
        **_times(death),
        "host": this_host().name,
        "nightshift_version": evidence_facts.nightshift_version(),
        "browser_version": death.get("browser_version"),
        "database": database,
        **words,
    }
    output = "".join(f"{redact_text(printable(line), known)}\n" for line in death["output"])
    write_durably(folder / "error.json", json.dumps(report, indent=2).encode() + b"\n")
    write_durably(folder / _LAST, output.encode("utf-8", "replace"))
    return folder


def _times(death: dict[str, Any]) -> dict[str, Any]:
    """Say when the job began and its worker died: of one that nobody saw die, when it was found."""
    died_at = death.get("died_at")
    finished = datetime.fromisoformat(died_at) if died_at else None
    return evidence_facts.times(death["seconds"] or None, finished)
