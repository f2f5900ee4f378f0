"""What is looked at in each line before it is a job: its URL, its empty cells, its task's shape."""

from __future__ import annotations

import json
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of

TASKS = """
from dataclasses import dataclass
from nightshift import task

@dataclass
class Product:
    url: str
    currency: str = "EUR"
    count: int = 1

@task("price")
def price(page, payload: Product, job): ...

@task("from_disk", schemes=("file",))
def from_disk(page, payload, job): ...

@task("cart", context={"base_url": "https://shop.example"})
def cart(page, payload, job): ...

@task("plain", browser=False)
def plain(page, payload, job): ...
"""


@pytest.fixture
def enqueue(settings, tmp_path):
    """Enqueue the text of a file of that name for a task."""
    tasks = tmp_path / "shop.py"
    tasks.write_text(TASKS)
    cli = partial(run_command, tmp_path, DATABASE_URL=url_of(settings))

    def enqueue(text, name, task, *flags):
        path = tmp_path / name
        path.write_text(text)
        return cli("enqueue", path, "--task", task, "--tasks", tasks, *flags)

    return enqueue


@pytest.fixture
def payloads(database):
    return lambda: [
        json.loads(row["payload"])
        for row in database.run_statement("SELECT payload FROM work_queue ORDER BY id")
    ]


@pytest.mark.parametrize("task", ["price", "visit", "unheard_of"])
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("url\nhttps://example.com/1\nexample.com/2\n", "urls.csv"),
        ('{"url": "https://example.com/1"}\n{"url": "example.com/2"}\n', "urls.jsonl"),
        ("https://example.com/1\nexample.com/2\n", "urls.txt"),
    ],
)
def test_a_url_is_checked_whatever_file_it_is_in(enqueue, payloads, task, text, name):
    done = enqueue(text, name, task)

    number = 3 if name == "urls.csv" else 2
    assert done.returncode == 2
    assert f"line {number}: 'example.com/2' is not a URL; write http://… or https" in done.stderr
    assert payloads() == []


@pytest.mark.parametrize(
    ("task", "url"),
    [
        ("from_disk", "file:///srv/pages/1.html"),
        ("cart", "/cart"),
        ("plain", "whatever it is called"),
    ],
)
def test_what_the_task_says_that_it_can_open_is_taken(enqueue, payloads, task, url):
    done = enqueue(f"url\n{url}\n", "urls.csv", task)

    assert done.returncode == 0, done.stderr
    assert payloads() == [{"url": url}]


def test_empty_cells_are_left_out_where_the_task_has_a_default(enqueue, payloads):
    text = "url,currency,count\nhttps://a.example/,,\nhttps://b.example/,USD,2\n"

    assert enqueue(text, "products.csv", "price").returncode == 0
    assert payloads() == [
        {"url": "https://a.example/"},
        {"url": "https://b.example/", "currency": "USD", "count": "2"},
    ]


def test_an_empty_cell_that_the_task_needs_is_a_bad_line(enqueue, payloads):
    done = enqueue("url,count\n,3\n", "products.csv", "price")

    assert done.returncode == 2
    assert "line 2: '' is not a URL" in done.stderr


def test_in_jsonl_an_empty_text_is_meant(enqueue, payloads):
    line = '{"url": "https://a.example/", "currency": ""}'

    assert enqueue(f"{line}\n", "products.jsonl", "price").returncode == 0
    assert payloads() == [json.loads(line)]


def test_a_schedule_reads_its_file_in_the_same_way(settings, tmp_path, enqueue, database):
    assert (
        enqueue("url\nhttps://a.example/\n", "products.csv", "price", "--dry-run").returncode == 0
    )
    cli = partial(run_command, tmp_path, DATABASE_URL=url_of(settings))
    (tmp_path / "cells.csv").write_text("url,count\nhttps://a.example/,\n")
    (tmp_path / "wrong.csv").write_text("url,count\na.example,\n")
    add = ("schedule", "add", "nightly", "--cron", "0 18 * * *", "--task", "price")
    add = (*add, "--tasks", tmp_path / "shop.py")

    assert "line 2: 'a.example' is not a URL" in cli(*add, "--file", tmp_path / "wrong.csv").stderr
    assert cli(*add, "--file", tmp_path / "cells.csv").returncode == 0
    assert cli("schedule", "run-now", "nightly").returncode == 0
    (row,) = database.run_statement("SELECT payload FROM work_queue")
    assert json.loads(row["payload"]) == {"url": "https://a.example/"}
