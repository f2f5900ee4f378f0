"""Outcomes that could not be written yet: one fsynced file per worker, replayed under the fence.

A worker keeps its outcome here from the first failed write until it is in the database, so that
neither its own death nor the launcher's loses work that was done.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from worker.database_settings import DatabaseSettings
from worker.errors import ClaimLost
from worker.models import Claim, Ending, Explanation, Outcome
from worker.queue.claims import Queue

logger = logging.getLogger("nightshift.journal")


@dataclass(frozen=True, slots=True)
class Entry:
    """One outcome in waiting."""

    path: Path
    claim: Claim
    ending: Ending


def folder_of(state_dir: Path, database: DatabaseSettings) -> Path:
    """Where the outcomes for one database wait."""
    return state_dir / "journal" / database.key


def write(folder: Path, incarnation: int, claim: Claim, ending: Ending) -> Path:
    """Keep an outcome on disk before anything else can happen to it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{incarnation}.json"
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump({"claim": asdict(claim), "ending": asdict(ending)}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    directory = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
    return path


def read(folder: Path) -> Iterator[tuple[int, Entry]]:
    """List the outcomes in waiting by incarnation; a damaged file is reported and left."""
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            claim = Claim(**data["claim"])
            why = data["ending"].pop("why")
            ending = Ending(
                outcome=Outcome(data["ending"].pop("outcome")),
                why=Explanation(**why) if why else None,
                **data["ending"],
            )
            yield int(path.stem), Entry(path, claim, ending)
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.error("the journal file %s cannot be read and is left: %s", path, error)


def replay(queue: Queue, entry: Entry) -> bool:
    """Write one outcome under its fence; False when the job is another's by now."""
    try:
        status = queue.end(entry.claim, entry.ending)
    except ClaimLost as lost:
        logger.warning("%s (from the journal)", lost)
        entry.path.unlink(missing_ok=True)
        return False
    logger.warning("job %s is %s: written from the journal", entry.claim.job_id, status)
    entry.path.unlink(missing_ok=True)
    return True
