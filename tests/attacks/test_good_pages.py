"""A good page gives no secret away, and neither page can hurt whoever compares the two."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.attacks import haystack
from tests.changing_site import ChangingSite, until_kept
from tests.lifecycle.conftest import run_command, url_of

SECRET = "CoreOfThisPayload-77"
GOOD = (
    f"<title>Lamp</title><p class=price>€ 189</p><p>{SECRET}</p>"
    "<input type=password value=CoreTyped><input name=csrf_token value=CoreHidden>"
    "<script>const state = {'accessToken': 'CoreJson'}</script>"
    "<a href='http://me:CoreLogin@shop.test/?sid=CoreSession'>x</a>"
)
CORES = (SECRET, "CoreTyped", "CoreHidden", "CoreJson", "CoreLogin", "CoreSession")
EVIL = "\x1b[2J\x1b]0;hacked\x07\u202e<script>hacked=1</script>"
CHANGED = f"<title>Sale</title><p class='product-price{EVIL}'>149 {EVIL}</p>"
TASKS = Path(__file__).parents[1] / "lifecycle" / "before_after_tasks.py"
FIELDS = {"price": ".price"}


@pytest.fixture
def shop():
    with ChangingSite().served() as shop:
        yield shop


def visit(launch, queue, shop, body, task="extract", **payload):
    shop.body = body
    payload = {"url": shop.url, "fields": FIELDS, **payload}
    job = queue.enqueue(task, payload, max_attempts=1)
    assert launch("--workers", 1, "--tasks", TASKS).wait(60) == 0
    return job, queue.get(job)["status"]


def visit_well(launch, queue, shop, errors_dir, body=GOOD, **payload):
    job, status = until_kept(errors_dir, lambda: visit(launch, queue, shop, body, **payload))
    assert status == "done"
    return job


def last_good(errors_dir, job):
    return json.loads((errors_dir / str(job) / "1" / "error.json").read_text())["last_good"]


def test_no_secret_of_the_good_page_is_kept_or_shown(
    launch, queue, shop, errors_dir, settings, tmp_path
):
    good = visit_well(launch, queue, shop, errors_dir, task="price", password=SECRET)
    failed, status = visit(launch, queue, shop, "<p class=product-price>1</p>", task="price")
    assert status == "error"

    written = [*haystack.of_files(errors_dir)]
    shown = run_command(tmp_path, "show", failed, "--json", DATABASE_URL=url_of(settings)).stdout
    written.append(("show", shown.encode()))
    assert any(place.endswith("good.html") for place, _ in written)
    assert last_good(errors_dir, failed)["job_id"] == good
    assert [(core, found) for core in CORES if (found := haystack.places_of(core, written))] == []


def test_what_a_page_calls_its_elements_is_shown_and_not_obeyed(
    launch, queue, shop, errors_dir, settings, tmp_path
):
    visit_well(launch, queue, shop, errors_dir)
    failed, _ = visit(launch, queue, shop, CHANGED)

    assert last_good(errors_dir, failed)["comparison"]["now"] == 0
    for arguments in (("show", failed), ("report", "--since", "1h"), ("errors",)):
        told = run_command(tmp_path, *arguments, DATABASE_URL=url_of(settings))
        assert not [mark for mark in ("\x1b", "\x07", "\u202e") if mark in told.stdout], arguments
    assert b"\x1b" not in (errors_dir / str(failed) / "1" / "error.json").read_bytes()


def test_hostile_selectors_of_payloads_cost_nobody_anything(launch, queue, shop, errors_dir):
    visit_well(launch, queue, shop, errors_dir)
    shop.body = "<div>" * 300 + "<i></i>" * 50_000
    payload = {"url": shop.url}
    hostile = [":has(i ~ i) " * 20 + "b", "*" * 250, "[" * 250, "\x1b[2J.price", "a,,b"]
    jobs = [
        queue.enqueue("extract", {**payload, "fields": {"x": each}}, max_attempts=1)
        for each in hostile
    ]
    assert launch("--workers", 1, "--job-timeout", "20s").wait(100) == 0

    assert {queue.get(job)["status"] for job in jobs} == {"error"}
    assert visit(launch, queue, shop, GOOD)[1] == "done"


def test_a_huge_page_is_neither_kept_in_half_nor_compared(launch, queue, shop, errors_dir):
    padding = "<!--" + "x" * 6_000_000 + "-->"
    visit_well(launch, queue, shop, errors_dir, GOOD + padding)
    failed, _ = visit(launch, queue, shop, "<p class=product-price>1</p>" + padding)

    told = last_good(errors_dir, failed)
    assert told["html_bytes"] is None
    assert told.get("comparison") is None
    folder = errors_dir / str(failed) / "1"
    assert (folder / "good.jpg").exists()
    assert not (folder / "good.html").exists()
