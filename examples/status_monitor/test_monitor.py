"""Tests of the monitor's task, in a real browser."""

from __future__ import annotations

import pytest

from examples.status_monitor.monitor import monitor
from nightshift import Fail

pytest_plugins = ["nightshift.testing"]


def test_every_look_has_states_and_a_picture(run_task, shop, tmp_path):
    looks = [run_task(monitor, {"url": f"{shop}/status"}) for _ in range(4)]

    assert {look["calm"] for look in looks} == {True, False}, "the demo's status changes"
    for look in looks:
        assert look["trouble"] == sorted(
            name for name, state in look["services"].items() if state != "operational"
        )
        assert (tmp_path / look["picture"]).read_bytes().startswith(b"\x89PNG")


def test_a_page_without_services_is_no_calm(run_task, shop):
    with pytest.raises(Fail, match="shows no services"):
        run_task(monitor, {"url": f"{shop}/products/1"})
