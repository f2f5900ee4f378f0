"""Outcomes that could not be written yet: one fsynced file per worker, replayed under the fence.

A worker keeps its outcome here from the first failed write until it is in the database, so that
neither its own death nor the launcher's loses work that was done. When one is kept is decided by
outcome_writer.py; deaths that could not be written are kept by recovery/deaths.py.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from worker.database.freshness import STALE_SECONDS
from worker.database_settings import DatabaseSettings
from worker.errors import BadData, ClaimLost, StaleServer
from worker.models import Cause, Claim, Ending, Outcome, Route, Status
from worker.queue.claims import Queue
from worker.system.durable_file import ENDING, write_durably

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
    content = json.dumps({"claim": asdict(claim), "ending": asdict(ending)})
    write_durably(path, content.encode())
    return path


def read(folder: Path) -> Iterator[tuple[int, Entry]]:
    """List the outcomes in waiting by incarnation; a damaged file is reported and left."""
    for path in sorted(folder.glob("*.json")):
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            yield int(path.stem), Entry(path, _claim(data["claim"]), _ending(data["ending"]))
        except FileNotFoundError:
            # Another run has just written what was in it.
            continue
        except (OSError, ValueError, TypeError, KeyError) as error:
            logger.error("the journal file %s cannot be read and is left: %s", path, error)


def half_written(folder: Path) -> Iterator[tuple[int, Path]]:
    """List the files that are being written, or were when their worker died, by incarnation."""
    for path in folder.glob(f".*.json*{ENDING}"):
        name, _, _ = path.name.removeprefix(".").partition(".json")
        if name.isdigit():
            yield int(name), path


def _claim(data: dict[str, Any]) -> Claim:
    # A file that an older version wrote has no route.
    return Claim(**data | {"route": Route(**data.get("route", {}))})


def _ending(data: dict[str, Any]) -> Ending:
    cause = data.pop("cause")
    # A file that an older version wrote has no follow-ups.
    added = tuple(data.pop("follow_ups", ()))
    return Ending(
        Outcome(data.pop("outcome")), cause=cause and Cause(cause), follow_ups=added, **data
    )


def replay(queue: Queue, entry: Entry) -> Status | None:
    """Write one outcome under its fence; None when the job is another's by now."""
    try:
        status = queue.end(entry.claim, entry.ending).status
    except BadData as error:
        # No server will ever take it. Its job is settled as that of any dead worker.
        aside = entry.path.with_suffix(".refused")
        entry.path.rename(aside)
        logger.error(
            "the outcome of job %s cannot be stored and is kept as %s: %s",
            entry.claim.job_id,
            aside,
            error,
        )
        return None
    except StaleServer as error:
        if time.time() - entry.path.stat().st_mtime < STALE_SECONDS:
            logger.warning("the outcome of job %s is kept: %s", entry.claim.job_id, error)
            return None
        logger.error(
            "the outcome of job %s is dropped: the database has never heard of its claim; "
            "was it restored, or has a failover lost writes?",
            entry.claim.job_id,
        )
        entry.path.unlink(missing_ok=True)
        return None
    except ClaimLost as lost:
        logger.warning("%s (from the journal)", lost)
        entry.path.unlink(missing_ok=True)
        return None
    logger.warning("job %s is %s: written from the journal", entry.claim.job_id, status)
    entry.path.unlink(missing_ok=True)
    return status
