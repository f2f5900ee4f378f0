"""Tests of the portal's task, in a real browser."""

from __future__ import annotations

import pytest

from examples.order_portal.orders import process_order
from nightshift import Fail

pytest_plugins = ["nightshift.testing"]


@pytest.fixture(autouse=True)
def credentials(monkeypatch):
    monkeypatch.setenv("PORTAL_USER", "demo")
    monkeypatch.setenv("PORTAL_PASSWORD", "demo")


def test_an_order_is_processed_once_however_often_the_job_runs(run_task, shop, visits):
    first = run_task(process_order, {"portal": shop, "order": 1003})
    second = run_task(process_order, {"portal": shop, "order": 1003})

    assert (first["customer"], first["amount"]) == ("Chioma Okafor", "€ 89.00")
    assert (first["was_open"], second["was_open"]) == (True, False)
    assert visits()["posts"]["/orders/1003/process"] == 1


def test_an_order_that_is_not_there_is_given_up(run_task, shop):
    with pytest.raises(Fail, match="the portal has no order 7"):
        run_task(process_order, {"portal": shop, "order": 7})


def test_a_wrong_password_is_told_and_not_tried_again(run_task, shop, monkeypatch):
    monkeypatch.setenv("PORTAL_PASSWORD", "wrong")

    with pytest.raises(Fail, match=r"refuses the log-in: User name or password is wrong\."):
        run_task(process_order, {"portal": shop, "order": 1004})
