"""`launcher.py evidence`: fetch what another host's failures left, or put this host's in reach."""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from worker.cli.connection import open_database
from worker.cli.groups import DefaultGroup
from worker.cli.inspect import read_job
from worker.cli.options import AGE, json_flag
from worker.cli.output import tell, tell_all, tell_json
from worker.cli.wording import counted
from worker.database.client import Row
from worker.errors import EvidenceUnavailable, SettingsError, UsageError
from worker.evidence import evidence_place
from worker.evidence.shared_place import VARIABLE, EvidenceGone, SharedPlace, place_of
from worker.history import evidence as kept_evidence
from worker.installation import command_line
from worker.system.identity import this_host

WEEK = 7 * 86400.0


class EvidenceGroup(DefaultGroup):
    """`evidence --json 5` gets it."""

    default = "get"


@click.group("evidence", cls=EvidenceGroup)
def evidence() -> None:
    """Fetch the evidence of failures, on whichever host it lies."""


@dataclass(frozen=True, slots=True)
class Fetched:
    """One attempt's evidence: the folder it is in now, or why it cannot be had."""

    attempt: int
    folder: Path | None
    problem: str = ""

    def as_json(self) -> dict[str, Any]:
        folder = None if self.folder is None else str(self.folder)
        return {"attempt": self.attempt, "folder": folder, "problem": self.problem or None}

    def line(self) -> str:
        return f"attempt {self.attempt}: {self.problem or self.folder}"


@evidence.command("get")
@click.argument("job_id", type=int, metavar="ID")
@click.option("--attempt", type=click.IntRange(min=1), help="Only that of one attempt.")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    help="The folder to put it into.  [default: evidence-ID]",
)
@json_flag
def get(job_id: int, attempt: int | None, output: Path | None, as_json: bool) -> None:
    """Copy the evidence of a job's attempts into a folder, from this host or the shared place.

    The shared place is what NIGHTSHIFT_EVIDENCE_URL names: a folder, or s3://BUCKET/PREFIX.
    """
    place = place_of(os.environ)
    with closing(open_database()) as db:
        _, history = read_job(db, job_id)
    wanted = [row for row in history if row["evidence"] and attempt in (None, row["attempt"])]
    if not wanted:
        which = f"attempt {attempt} of job {job_id}" if attempt else f"job {job_id}"
        raise UsageError(f"{which} left no evidence; see: {command_line('show', job_id)}")
    target = (output or Path(f"evidence-{job_id}")).absolute()
    fetched = [_fetch(row, place, target) for row in wanted]
    if as_json:
        tell_json({"job": job_id, "attempts": [each.as_json() for each in fetched]})
    else:
        tell_all(each.line() for each in fetched if each.folder)
    if problems := [each.line() for each in fetched if not each.folder]:
        raise EvidenceUnavailable("; ".join(problems))


def _fetch(row: Row, place: SharedPlace | None, target: Path) -> Fetched:
    folder, number = target / Path(row["evidence"]).name, row["attempt"]
    if folder.exists():
        return Fetched(number, None, f"{folder} exists already; give another folder with -o")
    here = evidence_place.folder_here(row)
    target.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(dir=target, prefix=".getting-") as scratch:
        partial = Path(scratch) / "evidence"
        if here is not None and here.is_dir():
            shutil.copytree(here, partial, symlinks=True)
        elif place is None:
            return Fetched(number, None, f"{_where(row)}, and {VARIABLE} is not set here")
        else:
            partial.mkdir()
            if not place.get(str(row["evidence"]), partial):
                return Fetched(number, None, f"{_where(row)}, and not in the shared place")
        partial.rename(folder)
    return Fetched(number, folder)


def _where(row: Row) -> str:
    where = evidence_place.place(row)
    if evidence_place.folder_here(row) is not None:
        return f"its evidence was in {where}, and is not there any more"
    return f"its evidence is in {where}"


@evidence.command("put")
@click.option(
    "--since",
    type=AGE,
    default=WEEK,
    help="Only attempts that ended within this time, such as 12h.  [default: 7d]",
)
@json_flag
def put(since: float, as_json: bool) -> None:
    """Copy this host's evidence to the shared place, as far as it is not there yet.

    Runs do that by themselves; this is for what was there before NIGHTSHIFT_EVIDENCE_URL was set.
    """
    place = place_of(os.environ)
    if place is None:
        raise SettingsError(f"{VARIABLE} is not set: there is no shared place for evidence")
    tally = {"copied": 0, "there_already": 0, "gone": 0}
    with closing(open_database()) as db:
        for row in kept_evidence.attempts_since(db, since):
            folder = evidence_place.folder_here(row)
            if folder is None:
                continue
            if place.has(row["evidence"]):
                tally["there_already"] += 1
                continue
            try:
                place.put(folder, row["evidence"], this_host().name)
            except EvidenceGone:
                tally["gone"] += 1
            else:
                tally["copied"] += 1
    if as_json:
        tell_json(tally)
        return
    tell(
        f"copied the evidence of {counted(tally['copied'], 'attempt')} to the shared place; "
        f"{tally['there_already']:,} there already, {tally['gone']:,} pruned on this host"
    )


COMMANDS = [evidence]
