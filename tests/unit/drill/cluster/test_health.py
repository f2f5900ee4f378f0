"""What the load balancer hears of a member: yes while it takes writes, no otherwise."""

from __future__ import annotations

import time
import urllib.error
import urllib.request
from contextlib import closing

import pytest

from worker.drill.cluster.health import Health


def answer(health: Health) -> int:
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{health.port}/", timeout=5) as got:
            return got.status
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def wait_for(health: Health, wanted: int) -> None:
    deadline = time.monotonic() + 20
    while answer(health) != wanted:
        if time.monotonic() > deadline:
            pytest.fail(f"it never answered {wanted}")
        time.sleep(0.05)


def test_a_member_is_good_only_while_it_takes_writes():
    member = {"takes_writes": True}
    with closing(Health(lambda: member["takes_writes"])) as health:
        wait_for(health, 200)
        member["takes_writes"] = False
        wait_for(health, 503)
