"""doctor's check of the server: what it is, and whether it does what the pool relies on."""

from __future__ import annotations

from contextlib import closing

from worker.database import migrations, server_kind, server_probe
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError
from worker.settings import RunSettings


def check(settings: DatabaseSettings) -> str:
    """Recognise the server and try it on two connections; raises SettingsError."""
    with closing(Database(settings)) as db:
        kind = server_kind.require_supported(db)
        if migrations.pending(db):
            return f"{kind}; not tried, because its schema is not up to date"
    if found := server_probe.problems(settings):
        raise SettingsError(f"{kind}: {'; '.join(found)}")
    return f"{kind}; two connections agree on sessions, claims, commits, locks and time"


def idle_slots_warning(kind: server_kind.ServerKind, settings: RunSettings) -> str | None:
    """Say what --no-help costs on a server whose ids do not grow by one."""
    if settings.help_others or kind.id_step == 1:
        return None
    return (
        f"ids grow by {kind.id_step} here, so the {settings.total} slots get unequal shares of "
        f"the jobs, and some perhaps none; leave --no-help away to let them help each other"
    )
