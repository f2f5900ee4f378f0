"""The examples from end to end: their own input, the real launcher, and what comes out."""

from __future__ import annotations

import csv
import io
import json
import shutil
import urllib.request

import pytest

from examples.demo_site import serve
from tests.lifecycle.conftest import REPO, run_command, url_of

EXAMPLES = REPO / "examples"
DEMO = "http://127.0.0.1:8000"


@pytest.fixture
def shop():
    with serve() as base_url:
        yield base_url


@pytest.fixture
def example(settings, database, tmp_path, shop, launch):
    """Enqueue an example's input, moved to this test's shop, and drain it; then export."""

    def run(folder, source, tasks, name, *flags, **variables):
        text = (EXAMPLES / folder / source).read_text(encoding="utf-8")
        assert DEMO in text
        (tmp_path / source).write_text(text.replace(DEMO, shop), encoding="utf-8")
        # As if copied elsewhere: a task file stands by itself.
        tasks = shutil.copy(EXAMPLES / folder / tasks, tmp_path / tasks)
        known = ("--task", name, "--tasks", tasks)
        url = url_of(settings)
        added = run_command(
            tmp_path, "enqueue", tmp_path / source, *known, *flags, DATABASE_URL=url
        )
        assert added.returncode == 0, added.stderr
        pool = launch(
            *("--workers", 2, "--tasks", tasks, "--json"),
            NIGHTSHIFT_RESULTS_DIR=str(tmp_path / "results"),
            **variables,
        )
        assert pool.wait(60) == 0
        done = run_command(
            tmp_path,
            *("export", "--task", name, "--status", "all", "--format", "csv"),
            DATABASE_URL=url,
        )
        assert done.returncode == 0, done.stderr
        return added.stdout, list(csv.DictReader(io.StringIO(done.stdout)))

    return run


def test_products_go_from_csv_to_csv(example):
    flags = ("--map", "sku=Nr", "--map", "url=Link", "--dedupe", "{Nr}")

    added, rows = example("product_scraper", "products.csv", "products.py", "product", *flags)

    assert added.startswith("added 4 jobs for task product: ids ")
    found = {row["sku"]: row for row in rows if row["status"] == "done"}
    assert sorted(found) == ["A-1", "A-2", "A-3"]
    assert (found["A-1"]["name"], found["A-1"]["price"]) == ("Harbour Lantern", "49.9")
    (failed,) = (row for row in rows if row["status"] == "error")
    assert failed["reason"] == "A-4 is no longer sold"


def test_orders_are_processed_once_each_and_the_password_stays_out(example, shop, database):
    added, rows = example(
        *("order_portal", "orders.csv", "orders.py", "process_order"),
        *("--dedupe", "order-{order}"),
        PORTAL_USER="demo",
        PORTAL_PASSWORD="demo",
    )

    assert added.startswith("added 3 jobs for task process_order: ids ")
    assert {row["order"]: row["was_open"] for row in rows} == dict.fromkeys(
        ("1001", "1002", "1005"), "true"
    )
    with urllib.request.urlopen(f"{shop}/__stats") as answer:
        posts = json.load(answer)["posts"]
    assert {path: n for path, n in posts.items() if path != "/login"} == {
        f"/orders/{order}/process": 1 for order in (1001, 1002, 1005)
    }
    assert "password" not in json.dumps(rows).lower()


def test_the_monitor_keeps_a_picture(example, tmp_path):
    _, (row,) = example("status_monitor", "pages.txt", "monitor.py", "monitor")

    assert (row["calm"], row["trouble"]) == ("true", "[]")
    assert (tmp_path / "results" / row["picture"]).read_bytes().startswith(b"\x89PNG")
