"""Deaths of workers: their jobs settled, their leases ended, and no death forgotten on the way.

The launcher sees a worker die and says all it knows (a `Death`). While the database is away, deaths
wait on disk: the next heart or the next start settles them, so that a stop costs no job an attempt.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from worker.database.client import Database
from worker.errors import ClaimLost
from worker.evidence import to_copy
from worker.evidence.redaction import redact_closed
from worker.models import Cause, Claim, Ending, Outcome, Status
from worker.profiles import lease_endings
from worker.queue.claims import Queue
from worker.recovery import journal_replay, obituary
from worker.recovery.places import Places
from worker.system.durable_file import write_durably

Death = dict[str, Any]

SUFFIX = ".death"
BEFORE_IT_BEGAN = "handed back: its worker died before the job began"

logger = logging.getLogger("nightshift.sweep")


@dataclass(frozen=True, slots=True)
class Swept:
    """What the sweep did, or would do, to one job."""

    job_id: int
    status: Status
    reason: str


def settle(db: Database, queue: Queue, death: Death, places: Places) -> list[Swept]:
    """Write what a dead worker left in the journal, then settle what it still held."""
    journal_replay.replay(db, queue, places.journal, only=death["incarnation"])
    settled = settle_claims(
        db,
        queue,
        death["incarnation"],
        obituary.ending_of(death),
        began=(death["job_id"], death["fence"]),
        places=places,
        death=death,
    )
    # What the board shows may be later than what reached the database.
    step = death["step"] if death["job_id"] is not None else None
    for profile in lease_endings.end_of_the_dead(
        db,
        death["incarnation"],
        death["ending"],
        last_step=step,
        step_kind=obituary.kind_of(death),
    ):
        logger.warning("profile %s: its worker died; it is checked before it is used", profile)
    for item in settled:
        logger.warning("job %s: %s; now %s", item.job_id, redact_closed(item.reason), item.status)
    return settled


def keep(journal_folder: Path, death: Death) -> None:
    """Keep a death on disk until it is settled; if the disk fails, the job loses an attempt."""
    try:
        journal_folder.mkdir(parents=True, exist_ok=True)
        write_durably(_path(journal_folder, death), json.dumps(death).encode())
    except OSError as error:
        logger.error("the death of worker %s cannot be kept: %s", death["slot"], error)


def forget(journal_folder: Path, death: Death) -> None:
    """Drop a death that has been settled."""
    _path(journal_folder, death).unlink(missing_ok=True)


def settle_kept(db: Database, queue: Queue, places: Places) -> list[Swept]:
    """Settle the deaths that an earlier run of this host could not; return their jobs."""
    settled = []
    for death in _kept(places.journal):
        settled += settle(db, queue, death, places)
        forget(places.journal, death)
    return settled


def _kept(journal_folder: Path) -> Iterator[Death]:
    for path in sorted(journal_folder.glob(f"*{SUFFIX}")):
        try:
            yield json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            # Another run has just settled it.
            continue
        except (OSError, ValueError) as error:
            logger.error("%s cannot be read and is left: %s", path, error)


def _path(journal_folder: Path, death: Death) -> Path:
    return journal_folder / f"{death['incarnation']}{SUFFIX}"


def settle_claims(
    db: Database,
    queue: Queue,
    incarnation: int,
    ending: Ending,
    *,
    began: tuple[int | None, int],
    places: Places | None = None,
    death: Death | None = None,
) -> list[Swept]:
    """Settle what a dead worker held, by how it died: handed back if we ended it.

    `began` is the (job, fence) that it had begun. Any other claim it held was never begun, so that
    job did not kill it. With `places` and `death`, evidence is written.
    """
    settled = []
    for row in db.fetch_all("claims_of_incarnation", incarnation=incarnation):
        claim = queue.claim_in(row)
        was_begun = (claim.job_id, claim.fence) == began
        # The row has it before the step is begun, the board after that.
        step = claim.irreversible_step or (ending.irreversible_step if was_begun else None)
        told = replace(ending, irreversible_step=step, proxy=ending.proxy if was_begun else None)
        if not was_begun and step is None:
            told = Ending(Outcome.HANDED_BACK, f"{BEFORE_IT_BEGAN}: {ending.reason}", Cause.POOL)
        elif ending.outcome is not Outcome.HANDED_BACK:
            reason = f"worker {row['worker_id']} died: {ending.reason}"
            told = with_evidence(replace(told, reason=reason), claim, places, death)
        elif step is not None:
            told = with_evidence(told, claim, places, death)
        if told.outcome is Outcome.TIMED_OUT:
            # It hung, as a page may: it waits like any retry. What was killed comes back at once.
            told = replace(told, delay_seconds=queue.backoff_seconds(claim))
        try:
            settlement = queue.end(claim, told, as_read=True)
        except ClaimLost:
            continue
        note_evidence(told, places)
        settled.append(Swept(claim.job_id, settlement.status, settlement.reason))
    return settled


def note_evidence(ending: Ending, places: Places | None) -> None:
    """Have the evidence of a settled job copied to where all hosts find it, if there is such."""
    if places is not None and ending.evidence is not None:
        to_copy.add(places.state_dir, places.errors_dir, ending.evidence)


def with_evidence(
    ending: Ending, claim: Claim, places: Places | None, death: Death | None
) -> Ending:
    """Write the evidence of a death where there is a place for it; say so where that failed."""
    if places is None or death is None:
        return ending
    try:
        folder = obituary.write(places, claim, death)
    except OSError as error:
        return replace(ending, reason=f"{ending.reason} (no evidence: {error})")
    return replace(ending, evidence=folder, evidence_dir=str(places.errors_dir))
