"""A site that answers 407, as only proxies should, costs no proxy its health."""

from __future__ import annotations

import pytest

from tests.lifecycle.proxies.conftest import QUICK, SHOP, outcomes, state_of
from worker.exit_codes import ExitCode
from worker.history.todo import everything
from worker.models import Outcome
from worker.profiles import store
from worker.profiles.store import NewProfile

CARELESS = """
from worker import task

@task("careless")
def careless(page, payload, job):
    page.goto(payload["url"])
    return {"title": page.title()}
"""


@pytest.fixture
def careless(tmp_path):
    path = tmp_path / "careless.py"
    path.write_text(CARELESS, encoding="utf-8")
    return path


@pytest.mark.parametrize("wants_login", [False, True], ids=["bare", "as a proxy would say it"])
def test_a_sites_own_407_is_the_sites_doing(
    launch, queue, database, site, via, looking, wants_login
):
    via("only")
    site.status = 407
    site.headers = {"Proxy-Authenticate": 'Basic realm="site"'} if wants_login else {}
    job = queue.enqueue("look", {"url": SHOP, "selector": "#none"}, max_attempts=2)

    run = launch("--workers", 1, *QUICK, looking)
    assert run.wait(60) == 0, run.output

    assert outcomes(queue, job) == [Outcome.RETRY, Outcome.RETRY]
    assert all(each["cause"] != "proxy" for each in queue.history(job))
    proxy = state_of(database, "only")
    assert (proxy["failures"], proxy["cooling_seconds"]) == (0, 0)


def test_a_proxy_that_refuses_the_login_is_still_found_out(
    launch, queue, database, site, via, looking
):
    wrong = via("wrong")
    via("right")
    wrong.login = "Basic of another day"
    job = queue.enqueue("look", {"url": SHOP, "selector": "title"}, max_attempts=1)

    run = launch("--workers", 1, *QUICK, looking)
    assert run.wait(60) == 0, run.output

    assert outcomes(queue, job)[0] == Outcome.HANDED_BACK
    assert state_of(database, "wrong")["failures"] == 1
    assert state_of(database, "right")["failures"] == 0


@pytest.mark.parametrize("place", ["ordinary", "in a profile"])
def test_a_task_that_looks_at_no_status_does_not_end_well_behind_a_refused_login(
    launch, queue, database, via, careless, tmp_path, place
):
    via("only").login = "Basic of another day"
    where = {}
    if place == "in a profile":
        store.add(database, [NewProfile("p1", folder=tmp_path / "p1", proxy="only")], "me")
        where = {"profile_id": "p1"}
    job = queue.enqueue("careless", {"url": SHOP}, **where)

    run = launch("--workers", 1, "--wait-retries", "5s", *QUICK, careless)
    assert run.wait(60) == ExitCode.HELD_BACK, run.output

    assert outcomes(queue, job) == [Outcome.HANDED_BACK]
    assert queue.history(job)[0]["cause"] == "proxy"
    assert state_of(database, "only")["failures"] == 1
    assert "refuses the login; set it right" in run.stdout
    assert [item.name for item in everything(database).items if item.kind == "proxy"] == ["only"]


def test_a_task_that_ends_well_with_a_sites_own_407_is_done(
    launch, queue, database, site, via, careless
):
    via("only")
    site.status = 407
    job = queue.enqueue("careless", {"url": SHOP})

    run = launch("--workers", 1, *QUICK, careless)
    assert run.wait(60) == 0, run.output

    assert outcomes(queue, job) == [Outcome.DONE]
    assert state_of(database, "only")["failures"] == 0


def test_a_site_that_answers_407_without_any_proxy_is_the_sites_doing(launch, queue, site, looking):
    site.status = 407
    url = f"http://127.0.0.1:{site.port}/"
    job = queue.enqueue("look", {"url": url, "selector": "#none"}, max_attempts=1)

    run = launch("--workers", 1, *QUICK, looking)
    assert run.wait(60) == 0, run.output

    (attempt,) = queue.history(job)
    assert (attempt["outcome"], attempt["cause"]) == (Outcome.RETRY, "site")
