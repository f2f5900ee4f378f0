"""From an empty folder and a wheel to results.csv: nobody has to open Nightshift's checkout."""

from __future__ import annotations

import csv
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lifecycle.installed import (
    REPO,
    Newcomer,
    build_wheel,
    contents,
    install,
    unpack_source,
)

# A dozen programs one after the other, two of them with browsers, on a machine that may be busy.
pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def programs(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install(wheel, tmp_path_factory.mktemp("virtualenv"))


@pytest.fixture
def newcomer(programs: Path, tmp_path: Path) -> Iterator[Newcomer]:
    """Somebody in an empty folder, whose private server is stopped in the end."""
    folder = tmp_path / "shop"
    folder.mkdir()
    somebody = Newcomer(folder, programs)
    yield somebody
    if (folder / ".local" / "mysql").exists():
        somebody.nightshift("db", "stop")


def test_the_wheel_holds_everything_but_tests(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())

    for kind in ("sql/queries", "sql/migrations"):
        for path in (REPO / kind).rglob("*.sql"):
            assert f"nightshift/_worker/_bundle/{path.relative_to(REPO)}" in names
    for path in (REPO / "worker").rglob("*"):
        if path.is_file() and "__pycache__" not in path.parts:
            assert f"nightshift/_{path.relative_to(REPO)}" in names
    assert {"nightshift/py.typed", "nightshift/__init__.py", "nightshift/testing.py"} <= names
    assert any(name.endswith("licenses/LICENSE") for name in names)
    # Nothing but the one package: `worker`, `tests` and `sql` are names that others have too.
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"nightshift"}


def test_a_wheel_made_of_the_source_distribution_is_the_same(wheel, tmp_path):
    # That is what `python -m build` does.
    source = unpack_source(tmp_path)
    again = build_wheel(tmp_path / "again", source)

    assert contents(again) == contents(wheel)


def test_from_an_empty_folder_to_results(newcomer, demo_site):
    folder = newcomer.folder
    newcomer.nightshift("init")
    payload = json.dumps({"url": f"{demo_site}/products/1"})
    assert "heading" in newcomer.nightshift("try", "product", "--payload", payload)
    told = newcomer.python("-m", "pytest", "-q", "-p", "no:cacheprovider", "tasks")
    assert "2 passed" in told

    pages = "".join(f"{demo_site}/products/{number}\n" for number in (1, 2, 3))
    (folder / "urls.txt").write_text(pages)
    newcomer.nightshift("enqueue", "urls.txt", "--task", "product")
    newcomer.nightshift("--workers", 1)
    newcomer.nightshift("export", "-o", "results.csv")

    with (folder / "results.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["done"] * 3
    assert len({row["heading"] for row in rows}) == 3
    # Everything is in the project, and nothing beside it.
    assert {path.name for path in folder.iterdir()} >= {".local", "results", "nightshift.toml"}
    assert [path.name for path in folder.parent.iterdir()] == ["shop"]
    assert len(list(folder.glob("results/*/page.png"))) == 3


SHOP = """
from dataclasses import dataclass

import worker
from catalogue.prices import currency
from nightshift import Job, task

@dataclass
class Product:
    url: str

@task("shop", browser=False)
def shop(page, payload: Product, job: Job):
    return {"queue": worker.QUEUE, "currency": currency}
"""


def test_a_program_with_a_module_named_worker_keeps_it(newcomer):
    folder = newcomer.folder
    (folder / "worker.py").write_text("QUEUE = 'mine'\n")
    (folder / "catalogue").mkdir()
    (folder / "catalogue" / "prices.py").write_text("currency = 'EUR'\n")
    (folder / "tasks").mkdir()
    (folder / "tasks" / "shop.py").write_text(SHOP)
    (folder / "nightshift.toml").write_text('[tasks]\nmodules = ["tasks"]\n')
    program = "import worker, nightshift; print(nightshift.enqueue('shop', {'url': worker.QUEUE}))"

    assert newcomer.python("-c", program) == "1\n"
    newcomer.python("-m", "nightshift", "--workers", 1)

    newcomer.nightshift("export", "-o", "results.csv", "--columns", "url,queue,currency")
    assert (folder / "results.csv").read_text().split() == ["url,queue,currency", "mine,mine,EUR"]


def test_the_demo_and_the_doctor_work_without_the_checkout(newcomer):
    assert "ok   schema" in newcomer.nightshift("doctor")
    said = newcomer.nightshift("demo")
    hints = said.partition("where to look next:\n")[2].splitlines()
    assert hints[0].startswith("  nightshift status ")
    assert hints[4].startswith("  nightshift dashboard ")
    assert "nightshift retry" in newcomer.nightshift("errors")


def test_a_program_of_ones_own_enqueues_into_its_project(newcomer):
    script = 'from nightshift import enqueue; print(enqueue("visit", {"url": "about:blank"}))'
    told = newcomer.python("-c", script)

    assert told == "1\n"
    assert '"pending": 1' in newcomer.nightshift("status", "--json", "--project", newcomer.folder)
