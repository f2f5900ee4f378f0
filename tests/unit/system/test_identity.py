"""Whether a recorded process is gone: known of one's own boot and machine, of no other."""

from __future__ import annotations

import os
from typing import Any

import pytest

from worker.queue import runs


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """This very process, as its run is recorded, on a machine that has a name."""
    monkeypatch.setattr(runs, "machine_id", lambda: "this machine")
    return {
        "machine_id": "this machine",
        "boot_id": runs.boot_id(),
        "pid_namespace": runs.pid_namespace(),
        "pid": os.getpid(),
        "pid_started": runs.start_ticks(os.getpid()),
    }


@pytest.mark.parametrize(
    ("changes", "is_gone"),
    [
        ({}, False),
        ({"pid_started": 1}, True),
        ({"pid_started": 1, "pid_namespace": 1}, False),
        ({"boot_id": "another"}, True),
        ({"boot_id": "another", "pid_namespace": 1}, True),
        ({"boot_id": "another", "machine_id": "another"}, False),
    ],
    ids=[
        "it lives",
        "its pid is another's by now",
        "it lives in another container",
        "the machine was booted since",
        "the machine was booted since and it was in a container",
        "it lives on another machine",
    ],
)
def test_a_process_is_gone_when_that_can_be_known(process, changes, is_gone):
    assert runs.is_gone({**process, **changes}) is is_gone


def test_nothing_is_known_of_another_boot_where_machines_have_no_name(process, monkeypatch):
    monkeypatch.setattr(runs, "machine_id", lambda: "")

    assert not runs.is_gone({**process, "boot_id": "another", "machine_id": ""})
