"""The kernel's counters of deaths for want of memory."""

from __future__ import annotations

from pathlib import Path

from worker.supervisor.oom import oom_kills


def test_the_kernels_counters_of_such_deaths_are_added_up(tmp_path: Path):
    machine, group = tmp_path / "vmstat", tmp_path / "memory.events"
    machine.write_text("pgfault 77\noom_kill 3\noom_kill_old 9\n", encoding="ascii")
    group.write_text("low 0\nhigh 1\nmax 20\noom 5\noom_kill 2\noom_group_kill 0\n", "ascii")

    assert oom_kills((machine, group)) == 5
    assert oom_kills((machine, tmp_path / "absent")) == 3
    assert oom_kills(()) == 0
