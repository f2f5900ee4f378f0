"""Checks before the first fork: database, schema, lock, tasks, browser, folder, who is told.

Runs in a child of the launcher, so that the launcher never holds a connection nor runs task files.
"""

from __future__ import annotations

import errno
import os
import tempfile
from contextlib import closing
from pathlib import Path

from worker.browser.browser_choice import BrowserChoice
from worker.browser.way_out import not_behind_proxies
from worker.browser_settings import CHROMIUM
from worker.claiming.slots import who_keeps_out
from worker.cli.output import tell
from worker.cli.privacy_check import close_own
from worker.cli.server_check import idle_slots_warning
from worker.database import migrations, server_kind
from worker.database.client import Database
from worker.database.locks import Lock
from worker.errors import RunLocked, SettingsError
from worker.evidence import to_copy
from worker.evidence.shared_place import place_of
from worker.models import DEFAULT_QUEUE
from worker.notices import sending
from worker.proxies import choice as proxies
from worker.queue import runs
from worker.settings import RunSettings
from worker.supervisor.slot_keeper import wish_of
from worker.system.identity import this_host
from worker.tasks import registry
from worker.tracing import provider

# About what one failure leaves: screenshot, page and logs.
TRIAL_BYTES = 1_000_000
LOOKED_UP_THERE = (
    "warning: --deny-private: browsers elsewhere look names up where they run; addresses written "
    "as such are refused, a name that leads to a private address is not"
)


def check(settings: RunSettings, locks: tuple[Lock, ...], launcher_pid: int) -> int:
    """Check all of it and record the run; return its id. The first thing wrong is raised."""
    check_folder(settings.errors_dir, "--errors-dir")
    close_own(settings.errors_dir)
    sending.check(settings.notify)
    to_copy.switch(settings.state_dir, is_wanted=place_of(os.environ) is not None)
    tasks = registry.load(settings.tasks)
    if settings.otel is not None:
        provider.check(settings.otel)
    BrowserChoice.of_run(settings).check()
    if settings.elsewhere is not None and settings.deny_private and not settings.quiet:
        tell(f"nightshift: {LOOKED_UP_THERE}", err=True)
    with closing(Database(settings.database)) as db:
        kind = server_kind.require_supported(db)
        migrations.ensure(db)
        if settings.browser_type != CHROMIUM and proxies.hosts(db):
            raise SettingsError(not_behind_proxies(settings.browser_type))
        if (warning := idle_slots_warning(kind, settings)) and not settings.quiet:
            tell(f"nightshift: {warning}", err=True)
        if not all(lock.take(db) for lock in locks):
            raise RunLocked("another run on this host holds the database's lock")
        if settings.shares_slots and (others := who_keeps_out(db, wish_of(settings, 0))):
            raise RunLocked(f"all slots are taken: {others}")
        return runs.start_run(db, settings, launcher_pid, tasks.names, tasks.without_browser)


def check_folder(folder: Path, setting: str) -> None:
    """Make sure that files of some size can be written there: a full disk takes small ones."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(os.urandom(TRIAL_BYTES))
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        remedy = "free some space there" if is_full else "make it writable"
        raise SettingsError(
            f"{setting} {folder} cannot be written: {error.strerror}; "
            f"{remedy} or choose another with {setting}"
        ) from error


def run_locks(settings: RunSettings) -> tuple[Lock, ...]:
    """Make the run's locks in the database: one per host and queue, none if it ignores them.

    They are held for this launcher by its heart.
    """
    if settings.if_locked == "ignore":
        return ()
    host = this_host().name or str(os.getuid())
    names = (host if name == DEFAULT_QUEUE else f"{host}/{name}" for name in settings.queues)
    return tuple(Lock("run", name, settings.lease_seconds) for name in names)
