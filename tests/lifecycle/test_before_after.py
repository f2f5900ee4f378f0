"""A site changes overnight: evidence, `show`, report and dashboard say what is different."""

from __future__ import annotations

import json
import os
import shutil
import stat
import time
from pathlib import Path

import pytest

from tests.changing_site import CHANGED, ChangingSite, until_kept
from tests.lifecycle.conftest import run_command, url_of
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig

TASKS = Path(__file__).with_name("before_after_tasks.py")


@pytest.fixture
def shop():
    with ChangingSite().served() as shop:
        yield shop


@pytest.fixture
def tasks(tmp_path):
    return shutil.copy(TASKS, tmp_path / "tasks.py")


@pytest.fixture
def good_facts(errors_dir):
    """Read what is known of every good page that was kept."""

    def read():
        return [json.loads(path.read_bytes()) for path in errors_dir.glob("good/*/*/good.json")]

    return read


@pytest.fixture
def visit(launch, queue, shop, tasks):
    """Let a run do one job well."""

    def visit():
        job = queue.enqueue("price", {"url": f"{shop.url}/p/1"})
        assert launch("--workers", 1, "--tasks", tasks).wait() == 0
        return job

    return visit


@pytest.fixture
def changed_overnight(launch, queue, shop, tasks, visit, errors_dir):
    """Let one job go well and one, after the site has changed, fail."""
    good = until_kept(errors_dir, visit)
    shop.body = CHANGED
    failed = queue.enqueue("price", {"url": f"{shop.url}/p/2"}, max_attempts=1)
    assert launch("--workers", 1, "--tasks", tasks).wait() == 0
    assert [queue.get(job)["status"] for job in (good, failed)] == ["done", "error"]
    return good, failed


def test_evidence_and_show_say_what_changed(changed_overnight, errors_dir, settings, tmp_path):
    good, failed = changed_overnight
    folder = errors_dir / str(failed) / "1"
    told = json.loads((folder / "error.json").read_text())["last_good"]
    shown = run_command(tmp_path, "show", failed, DATABASE_URL=url_of(settings)).stdout
    plain = run_command(tmp_path, "show", failed, "--json", DATABASE_URL=url_of(settings)).stdout

    assert told["job_id"] == good
    assert told["url"].endswith("/p/1")
    assert told["comparison"]["nearest_text"] == "€ 149.00"
    assert "€ 189.00" in (folder / "good.html").read_text()
    assert (folder / "good.jpg").read_bytes().startswith(b"\xff\xd8\xff")
    at = told["at"].replace("T", " ")
    assert f"last good at {at} (job {good})" in shown
    assert f"`.price` matched 1 element at {at}, 0 now; nearest now: `.product-price`" in shown
    comparison = json.loads(plain)["attempts"][0]["last_good"]["comparison"]
    assert (comparison["then"], comparison["now"]) == (1, 0)


def test_the_report_says_it_with_both_pictures(changed_overnight, settings, tmp_path):
    good, _ = changed_overnight
    text, page, data = (
        run_command(
            tmp_path, "report", "--since", "1h", "--format", kind, DATABASE_URL=url_of(settings)
        ).stdout
        for kind in ("text", "html", "json")
    )

    assert f"(job {good}). `.price` matched 1 element at" in " ".join(text.split())
    assert "nearest now: `.product-price`" in " ".join(text.split())
    assert "data:image/jpeg;base64," in page
    assert "data:image/png;base64," in page
    assert "`.product-price`" in json.loads(data)["groups"][0]["last_good"]


def test_the_dashboard_shows_both_pages(changed_overnight, settings, errors_dir, tmp_path):
    good, failed = changed_overnight
    config = DashboardConfig(
        database=settings, errors_dir=errors_dir, users_file=tmp_path / "users.json",
        state_dir=tmp_path / "state", version="0",
    )  # fmt: skip
    app = create_app(config)
    client = app.test_client()
    client.environ_base["HTTP_HOST"] = "localhost"
    page = client.get(f"/jobs/{failed}").text
    picture = client.get(f"/jobs/{failed}/attempts/1/good")
    html = client.get(f"/jobs/{failed}/attempts/1/good-page")
    inert = client.get(f"/jobs/{failed}/attempts/1/good-page/inert")
    app.extensions["nightshift"].connections.close()

    assert "<code>.price</code> is no longer on the page" in page
    assert "<code>.price</code> matched 1 element at" in page
    assert "Nearest now: <code>.product-price</code> (“€ 149.00”)" in page
    assert f'<a href="/jobs/{good}">{good}</a>, same task and site' in page
    assert (picture.mimetype, picture.data[:3]) == ("image/jpeg", b"\xff\xd8\xff")
    assert html.mimetype == "text/plain"
    assert inert.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")


def test_of_many_workers_one_keeps_a_page_once_in_ten_minutes(
    launch, queue, shop, tasks, visit, errors_dir, good_facts
):
    def visit_often():
        jobs = [queue.enqueue("price", {"url": f"{shop.url}/p/{n}"}) for n in range(16)]
        assert launch("--workers", 2, "--tasks", tasks).wait(60) == 0
        return jobs

    jobs = until_kept(errors_dir, visit_often)
    (first,) = good_facts()
    assert first["job_id"] in jobs
    visit()
    assert good_facts() == [first]

    (path,) = errors_dir.glob("good/*/*/good.json")
    then = time.time() - 601
    os.utime(path, (then, then))
    later = [visit() for _ in range(2)]

    (second,) = good_facts()
    assert second["job_id"] in later
    open_to_others = [
        path for path in errors_dir.rglob("good/**/*") if stat.S_IMODE(path.stat().st_mode) & 0o077
    ]
    assert open_to_others == []


def test_nothing_is_kept_if_nobody_wants_it(launch, queue, shop, tasks, errors_dir):
    queue.enqueue("price", {"url": shop.url})
    assert launch("--workers", 1, "--tasks", tasks, "--keep-good", "never").wait() == 0

    assert not (errors_dir / "good").exists()


def test_the_page_of_a_failed_job_is_not_kept(launch, queue, shop, tasks, errors_dir):
    failed = queue.enqueue("gives_up", {"url": shop.url})
    assert launch("--workers", 1, "--tasks", tasks).wait() == 0

    assert queue.get(failed)["status"] == "error"
    assert not (errors_dir / "good").exists()


def test_a_page_that_never_answers_again_costs_its_worker_a_moment(launch, queue, shop, tasks):
    busy = [queue.enqueue("busy", {"url": shop.url}) for _ in range(2)]
    after = queue.enqueue("price", {"url": shop.url})
    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0

    assert [queue.get(job)["status"] for job in (*busy, after)] == ["done"] * 3
