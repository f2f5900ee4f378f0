"""The environment of a running job: what its task says is kept, and never costs it its time."""

from __future__ import annotations

import time
from dataclasses import replace
from types import SimpleNamespace

import pytest

from tests.integration.profile_fixtures import state
from worker.database.client import Database
from worker.execution import profile_use as module
from worker.execution.profile_use import ProfileUse
from worker.profiles import lease_endings, leases

ENDLESS = float("inf")


@pytest.fixture
def claim(worker, enqueue, add):
    add("p1")
    enqueue("p1")
    return worker.claim()


def entered(db, claim, url: str = "https://shop.example/cart") -> ProfileUse:
    session = SimpleNamespace(page=SimpleNamespace(url=url))
    environment = ProfileUse(db, session, proxy_use=None, holder="w")  # type: ignore[arg-type]
    environment.enter(claim)
    return environment


def test_a_step_is_kept_with_the_lease_whatever_characters_a_page_put_into_it(database, claim):
    entered(database, claim).note_step("opened \ud800 \U0001f6d2 \0" + "x" * 300)

    (lease,) = database.fetch_all("leases_of_profile", profile_id="p1")
    assert lease["last_step"].startswith("opened ? \U0001f6d2")
    assert lease["last_url"] == "https://shop.example/cart"


def test_a_task_does_not_wait_for_an_absent_database_to_take_its_steps(
    database, claim, monkeypatch, tmp_path, caplog
):
    monkeypatch.setattr(module, "PATIENCE_SECONDS", 0.2)
    nowhere = replace(database.settings, unix_socket=str(tmp_path / "no.sock"))
    away = Database(nowhere, patience_seconds=ENDLESS)
    environment = entered(away, claim)
    began = time.monotonic()

    environment.note_step("paying")
    environment.want_review("a captcha")

    assert time.monotonic() - began < 10
    assert away.patience_seconds == ENDLESS
    assert "was not written" in caplog.text
    # With the database back, the wish goes with the release.
    environment.db = database
    environment.session = SimpleNamespace(close_profile=lambda: None)  # type: ignore[assignment]
    environment.leave()
    assert state(database) == "review_required"


def test_the_step_on_the_board_counts_where_the_database_was_not_told(database, worker, claim):
    leases.note_step(database, "p1", claim.lease_fence, "logged in", "https://shop.example/")

    lease_endings.end_of_the_dead(
        database, worker.owner.incarnation, "SIGKILL", last_step="submitting order"
    )

    assert state(database) == "quarantined"
