"""Whether a recorded process is gone: said only where it is certain."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from worker.recovery import dead_owners
from worker.system import identity, process_tree

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")

BOOTED_SECONDS_AGO = 500.0
NOBODY = 65534


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """This very process, as its run is recorded, on a machine that has a name."""
    monkeypatch.setattr(dead_owners, "machine_id", lambda: "this machine")
    monkeypatch.setattr(dead_owners, "uptime_seconds", lambda: BOOTED_SECONDS_AGO)
    return {
        "machine_id": "this machine",
        "boot_id": identity.boot_id(),
        "pid_namespace": identity.pid_namespace(),
        "pid": os.getpid(),
        "pid_started": identity.start_ticks(os.getpid()),
        "silent_seconds": 2.0,
    }


REBOOTED = {"boot_id": "another", "silent_seconds": BOOTED_SECONDS_AGO + 1}


@pytest.mark.parametrize(
    ("changes", "is_gone"),
    [
        ({}, False),
        ({"silent_seconds": 9999.0}, False),
        ({"pid_started": 1}, True),
        ({"pid_started": 1, "pid_namespace": 1}, False),
        (REBOOTED, True),
        ({**REBOOTED, "pid_namespace": 1}, True),
        ({**REBOOTED, "silent_seconds": 2.0}, False),
        ({**REBOOTED, "silent_seconds": BOOTED_SECONDS_AGO - 1}, False),
        ({**REBOOTED, "machine_id": "another"}, False),
    ],
    ids=[
        "it lives",
        "it lives and its heart is silent",
        "its pid is another's by now",
        "it lives in another container",
        "the machine was booted since",
        "the machine was booted since and it was in a container",
        "it lives on a clone of this machine",
        "it lived on a clone of this machine when this one had been booted",
        "it lives on another machine",
    ],
)
def test_a_process_is_gone_when_that_can_be_known(process, changes, is_gone):
    assert dead_owners.is_gone({**process, **changes}) is is_gone


def test_a_clone_that_was_silent_for_a_moment_is_not_gone_for_a_machine_just_booted(
    process, monkeypatch
):
    monkeypatch.setattr(dead_owners, "uptime_seconds", lambda: 5.0)

    assert not dead_owners.is_gone({**process, "boot_id": "another", "silent_seconds": 12.0})


def test_nothing_is_known_of_another_boot_where_machines_have_no_name(process, monkeypatch):
    monkeypatch.setattr(dead_owners, "machine_id", lambda: "")

    assert not dead_owners.is_gone({**process, **REBOOTED, "machine_id": ""})


@pytest.mark.parametrize(
    ("launcher", "is_gone"), [({}, False), ({"launcher_started": 1}, True)], ids=["lives", "gone"]
)
def test_an_owner_is_gone_when_its_launcher_is_gone_too(process, launcher, is_gone):
    owner = {
        **process,
        "pid_started": 1,
        "launcher_pid": process["pid"],
        "launcher_started": process["pid_started"],
        **launcher,
    }

    assert dead_owners.owner_is_gone(owner) is is_gone


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_process_of_another_user_that_proc_hides_is_not_gone(process, monkeypatch, tmp_path):
    # So looks /proc with hidepid=2: others' processes are not there.
    monkeypatch.setattr(process_tree, "PROC", tmp_path)

    assert not as_nobody(lambda: dead_owners.is_gone(process))


@pytest.mark.skipif(os.geteuid() != 0, reason="becomes another user")
def test_a_process_that_nobody_has_is_gone_where_proc_hides_others(process, monkeypatch):
    monkeypatch.setattr(process_tree, "PROC", Path("/nonexistent"))

    assert as_nobody(lambda: dead_owners.is_gone({**process, "pid": 2**22 + 1}))


def as_nobody(question: Callable[[], bool]) -> bool:
    """Answer a question in a child that may signal nobody else's processes."""
    child = os.fork()
    if child == 0:
        os.setuid(NOBODY)
        os._exit(int(question()))
    return bool(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
