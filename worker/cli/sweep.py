"""`launcher.py sweep` and `migrate`: put the queue and its schema right by hand."""

from __future__ import annotations

import logging
from collections import Counter
from contextlib import closing
from dataclasses import asdict

import click

from worker.cli.connection import PATIENT_READ_SECONDS, open_database, resolve, state_dir
from worker.cli.options import errors_dir, json_flag, run_settings
from worker.cli.output import tell, tell_json
from worker.cli.privacy_check import close_own
from worker.cli.wording import counted
from worker.database import migrations
from worker.database.client import Database
from worker.models import Status
from worker.queue.claims import Queue
from worker.recovery import sweep as sweeping
from worker.recovery.deaths import Swept
from worker.recovery.places import Places


@click.command("sweep")
@click.option("--dry-run", is_flag=True, help="Only say what would be done.")
@click.option("-v", "--verbose", is_flag=True, help="Print a line for each job.")
@run_settings("max_attempts", "server_grace_seconds", "callback_url")
@json_flag
def sweep(
    dry_run: bool,
    verbose: bool,
    max_attempts: int,
    server_grace_seconds: float,
    callback_url: str | None,
    as_json: bool,
) -> None:
    """Put jobs of vanished workers back to pending, or to error at their last attempt."""
    # What it does is told here, job by job if wanted.
    logging.getLogger("nightshift").setLevel(logging.ERROR)
    with closing(open_database()) as db:
        queue = Queue(db, max_attempts=max_attempts, default_callback=callback_url)
        places = Places(db.settings, state_dir(), errors_dir())
        if not dry_run:
            close_own(places.errors_dir)
        swept = [] if dry_run else sweeping.settle_left(db, queue, places)
        swept += sweeping.sweep(
            db, queue, server_grace_seconds=server_grace_seconds, dry_run=dry_run
        )
        profiles = [] if dry_run else sweeping.sweep_profiles(db, server_grace_seconds)
    if as_json:
        tell_json([asdict(item) for item in swept])
        return
    for profile, reason in profiles:
        tell(f"profile {profile}: {reason}; it is checked before it is used again")
    if verbose:
        for item in swept:
            tell(f"job {item.job_id}: {item.status}: {item.reason}")
    if swept:
        tell(_sum_of(swept, dry_run))
    elif not profiles:
        tell("nothing to sweep: every job in progress has a live worker")


def _sum_of(swept: list[Swept], dry_run: bool) -> str:
    numbers = Counter(item.status for item in swept)
    text = (
        f"{'would put' if dry_run else 'put'} {counted(numbers[Status.PENDING], 'job')} back to "
        f"pending and {numbers[Status.ERROR]:,} to error"
    )
    done = numbers[Status.DONE]
    return text + (f"; {counted(done, 'job')} had been done, and that is written now" * bool(done))


@click.command("migrate")
@click.option("--dry-run", is_flag=True, help="Only name the migrations that would be applied.")
def migrate(dry_run: bool) -> None:
    """Bring the database's schema up to date."""
    with closing(Database(resolve(), read_timeout_seconds=PATIENT_READ_SECONDS)) as db:
        names = migrations.pending(db) if dry_run else migrations.migrate(db)
    for name in names:
        tell(f"{'would apply' if dry_run else 'applied'} {name}")
    if not names:
        tell("the schema is up to date")


COMMANDS = [sweep, migrate]
