"""At 7 a.m.: a selector broke overnight, is mended, rehearsed on the evidence, and retried."""

from __future__ import annotations

import json

from examples.demo_site import serve
from tests.lifecycle.conftest import run_command, url_of

TASK = """
from nightshift import task

@task("price", max_attempts=1)
def price(page, payload, job):
    page.goto(payload["url"])
    text = page.locator("SELECTOR").inner_text(timeout=1000)
    return {"price": text, "url": page.url}
"""
MENDED = TASK.replace("SELECTOR", "[itemprop=price]")


def state_of(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_mended_selector_passes_on_the_evidence_with_the_site_switched_off(
    launch, queue, settings, errors_dir, tmp_path
):
    tasks = tmp_path / "shop.py"
    tasks.write_text(TASK.replace("SELECTOR", ".preis"))
    with serve() as shop:
        pages = ["/products/1", "/products/2", "/odd/redirect/3"]
        jobs = [queue.enqueue("price", {"url": shop + path}) for path in pages]
        assert launch("--workers", 2, "--tasks", tasks).wait() == 0
    before = [queue.get(job) for job in jobs], state_of(errors_dir)
    group = before[0][0]["fingerprint"]
    assert {row["fingerprint"] for row in before[0]} == {group}

    def rehearse():
        command = ("rehearse", "--group", group, "--tasks", tasks, "--json")
        done = run_command(tmp_path, *command, DATABASE_URL=url_of(settings))
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    still_broken = rehearse()
    tasks.write_text(MENDED)
    mended = rehearse()

    assert (still_broken["passes"], still_broken["fails"]) == (0, 3)
    assert "Timeout" in still_broken["jobs"][0]["reason"]
    assert (mended["passes"], mended["fails"], mended["unknown"]) == (3, 0, 0)
    found = {each["job"]: each["result"] for each in mended["jobs"]}
    first, second, redirected = (found[job] for job in jobs)
    assert first["price"] != second["price"]
    # Where its redirects led, as the task would have found it.
    assert redirected == first
    assert ([queue.get(job) for job in jobs], state_of(errors_dir)) == before
