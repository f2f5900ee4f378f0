"""What --no-help costs where ids do not grow by one."""

from __future__ import annotations

from worker.cli.server_check import idle_slots_warning
from worker.database.server_kind import ServerKind
from worker.database_settings import DatabaseSettings
from worker.settings import RunSettings


def warning(id_step: int, **settings: object) -> str | None:
    run = RunSettings(database=DatabaseSettings(), workers=6, total=6, **settings)
    return idle_slots_warning(ServerKind("Galera", id_step=id_step), run)


def test_slots_that_help_nobody_are_warned_of_ids_in_steps():
    told = warning(3, help_others=False)

    assert told is not None
    assert "ids grow by 3 here, so the 6 slots get unequal shares" in told


def test_nobody_is_warned_where_ids_are_dense_or_slots_help():
    assert warning(1, help_others=False) is None
    assert warning(3, help_others=True) is None
