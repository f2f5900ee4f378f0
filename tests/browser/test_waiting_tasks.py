"""`extract` and `expect` wait for what a page is still building, as long as their job has."""

from __future__ import annotations

import time
from urllib.parse import quote

import pytest

from worker.errors import Fail, PayloadError
from worker.execution.rehearsal import Rehearsal
from worker.tasks import registry
from worker.tasks.patience import OPTIONAL_SECONDS

# Everything comes after a while; the price is a dash at first.
LATE = """<b class=price>–</b><script>setTimeout(() => {
    document.querySelector(".price").textContent = "€ 3.20";
    document.body.insertAdjacentHTML("beforeend",
        "<h1>Lamp</h1><i class=tag>a</i><i class=tag>b</i>");
}, MILLISECONDS)</script>"""


def page_after(milliseconds):
    return "data:text/html;charset=utf-8," + quote(LATE.replace("MILLISECONDS", str(milliseconds)))


URL, NEVER = page_after(500), page_after(600_000)


@pytest.fixture
def run(session, tmp_path):
    """Run a built-in task and tell how long that took."""

    def run(name, payload, seconds=30.0):
        rehearsal = Rehearsal(session, tmp_path, timeout_seconds=seconds)
        return rehearsal.run(registry.load().get(name), payload)

    return run


def test_fields_that_come_late_are_waited_for(run):
    fields = {
        "name": "h1",
        "price": {"selector": ".price", "number": True},
        "tags": {"selector": ".tag", "all": True},
        "gone": {"selector": ".gone", "optional": True, "timeout": 0},
    }

    result = run("extract", {"url": URL, "fields": fields})

    assert result == {"name": "Lamp", "price": 3.2, "tags": ["a", "b"], "gone": None}


def test_what_may_be_missing_is_waited_for_once_however_much_it_is(run):
    fields = {f"f{n}": {"selector": f".gone{n}", "optional": True} for n in range(6)}
    began = time.monotonic()

    assert set(run("extract", {"url": URL, "fields": fields}).values()) == {None}
    assert OPTIONAL_SECONDS <= time.monotonic() - began < 3 * OPTIONAL_SECONDS


def test_a_field_has_the_time_that_it_names(run):
    with pytest.raises(Fail, match='field "name": nothing on data:'):
        run("extract", {"url": NEVER, "fields": {"name": {"selector": "h1", "timeout": 0.05}}})
    field = {"selector": ".price", "number": True, "timeout": 0.05}
    with pytest.raises(Fail, match="'–' is not a number"):
        run("extract", {"url": NEVER, "fields": {"price": field}})


def test_a_number_is_not_waited_for_at_all_if_its_field_says_so(run):
    # It becomes one after half a second, within the time of a field that does not say.
    field = {"selector": ".price", "number": True, "timeout": 0}
    with pytest.raises(Fail, match="'–' is not a number"):
        run("extract", {"url": URL, "fields": {"price": field}})


def test_expect_waits_until_it_is_to_be_seen(run):
    steps = [{"goto": URL}, {"expect": "h1"}, {"extract": {"price": ".price"}}]
    assert run("steps", {"steps": steps})["price"] == "€ 3.20"

    steps[:2] = [{"goto": NEVER}, {"expect": {"selector": "h1", "timeout": 0.05}}]
    with pytest.raises(Fail, match="expected h1 on data:"):
        run("steps", {"steps": steps})


def test_no_wait_takes_the_job_past_its_own_time(run):
    began, field = time.monotonic(), {"selector": ".gone", "timeout": 600}
    with pytest.raises(Fail, match='field "name": nothing on'):
        run("extract", {"url": URL, "fields": {"name": field}}, seconds=4.0)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize("timeout", [-1, 1e9])
def test_a_timeout_that_is_none_is_named(run, timeout):
    field = {"selector": "h1", "timeout": timeout}
    with pytest.raises(PayloadError, match='field "name": a timeout is a number of seconds'):
        run("extract", {"url": URL, "fields": {"name": field}})
    with pytest.raises(PayloadError, match="expect: a timeout is a number of seconds"):
        run("steps", {"steps": [{"goto": URL}, {"expect": field}]})
