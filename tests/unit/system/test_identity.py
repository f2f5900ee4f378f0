"""Which of many equal hosts this is, as Kubernetes tells it."""

from __future__ import annotations

import socket

import pytest

from worker.errors import SettingsError
from worker.system.identity import HOST_VARIABLE, host_index


@pytest.fixture
def name_host(monkeypatch):
    """Give this machine the name that a pod has; a name by hand would hide it."""
    monkeypatch.delenv(HOST_VARIABLE, raising=False)
    return lambda name: monkeypatch.setattr(socket, "gethostname", lambda: name)


@pytest.mark.parametrize(
    ("name", "index"), [("nightshift-0", 0), ("nightshift-3", 3), ("night-shift-eu-17", 17)]
)
def test_a_stateful_sets_pod_has_its_ordinal_in_its_name(name_host, name, index):
    name_host(name)

    assert host_index({}) == index


def test_an_indexed_jobs_pod_is_told_its_number_whatever_its_name_ends_with(name_host):
    name_host("nightshift-drain-29384-2-x7f9q")

    assert host_index({"JOB_COMPLETION_INDEX": "2"}) == 2


@pytest.mark.parametrize("name", ["laptop", "nightshift-", "nightshift-7f9c", "nightshift-1234567"])
def test_a_host_without_a_number_is_told_what_to_do(name_host, name):
    name_host(name)

    with pytest.raises(SettingsError, match="does not end with one, as in nightshift-3"):
        host_index({})
