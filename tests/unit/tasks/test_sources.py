"""Files, folders, modules and packages with tasks: what they import, and what they do not mix."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from worker.errors import SettingsError
from worker.tasks import registry

TASK = """
from worker import task

@task("NAME", browser=False)
def run(page, payload, job):
    BODY
"""


@pytest.fixture(autouse=True)
def imports_are_undone(monkeypatch):
    """Loading changes where and what Python imports; a test must not."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("nightshift_tasks", "own_")):
            del sys.modules[name]


@pytest.fixture
def files(tmp_path):
    """Write files by their paths; folders are made."""

    def write(**texts: str) -> Path:
        for name, text in texts.items():
            path = tmp_path / name.replace("__", "/").removesuffix("_py").replace(
                "INIT", "__init__"
            )
            path.with_suffix(".py").parent.mkdir(parents=True, exist_ok=True)
            path.with_suffix(".py").write_text(text, encoding="utf-8")
        return tmp_path

    return write


def task(name: str, body: str, head: str = "") -> str:
    return head + TASK.replace("NAME", name).replace("BODY", body)


def results(*sources: object) -> dict[str, Any]:
    """Load the sources and do each task once."""
    tasks = registry.load([str(source) for source in sources])
    own = [name for name in tasks.names if name not in registry.load().names]
    return {name: tasks.get(name).function(None, {}, None) for name in own}  # type: ignore[arg-type]


def test_two_folders_with_a_helpers_file_each_do_not_mix(files):
    root = files(
        a__helpers="WHO = 'a'\n",
        a__shop=task("first", "return WHO", "from helpers import WHO\n"),
        b__helpers="WHO = 'b'\n",
        b__shop=task("second", "return helpers.WHO", "import helpers\n"),
    )

    assert results(root / "a/shop.py", root / "b/shop.py") == {"first": "a", "second": "b"}


def test_a_late_import_in_a_function_finds_its_own_neighbour_too(files):
    late = "import helpers; return helpers.name()"
    deeper = "def name():\n    from own_names import NAME\n    return NAME\n"
    root = files(
        a__helpers=deeper,
        a__own_names="NAME = 'a'\n",
        a__shop=task("first", late),
        b__helpers=deeper,
        b__own_names="NAME = 'b'\n",
        b__shop=task("second", late),
    )

    assert results(root / "a/shop.py", root / "b/shop.py") == {"first": "a", "second": "b"}


def test_a_file_in_a_package_may_import_relatively_and_by_the_packages_name(files):
    root = files(
        own_app__INIT="",
        own_app__models="KIND = 'model'\n",
        own_app__tasks__INIT="",
        own_app__tasks__near="NEAR = 'near'\n",
        own_app__tasks__shop=task(
            "shop",
            "return [KIND, NEAR, KIND is models.KIND]",
            "from ..models import KIND\nfrom .near import NEAR\nimport own_app.models\n"
            "models = own_app.models\n",
        ),
    )

    assert results(root / "own_app/tasks/shop.py") == {"shop": ["model", "near", True]}


def test_a_file_beside_its_neighbours_may_import_them_relatively(files):
    root = files(near="NEAR = 1\n", shop=task("shop", "return NEAR", "from .near import NEAR\n"))

    assert results(root / "shop.py") == {"shop": 1}


def test_a_folder_gives_the_tasks_of_all_its_files_but_tests(files):
    root = files(
        tasks__first=task("first", "return 1"),
        tasks__helpers="TWO = 2\n",
        tasks__deeper__second=task("second", "return TWO", "from helpers import TWO\n"),
        tasks__test_first="raise RuntimeError('a test was imported')\n",
        tasks__conftest="raise RuntimeError('a conftest was imported')\n",
        tasks__tests__anything="raise RuntimeError('tests were imported')\n",
    )
    (root / "tasks/venv").mkdir()
    (root / "tasks/venv/pyvenv.cfg").touch()
    (root / "tasks/venv/bad.py").write_text("raise RuntimeError('a virtualenv')\n")

    assert results(root / "tasks") == {"first": 1, "second": 2}


def test_a_package_by_its_name_gives_the_tasks_of_its_modules(files, monkeypatch):
    root = files(
        own_package__INIT="",
        own_package__first=task("first", "return 1"),
        own_package__inner__INIT="",
        own_package__inner__second=task("second", "return ONE", "from ..one import ONE\n"),
        own_package__one="ONE = 1\n",
        own_package__test_one="raise RuntimeError('a test was imported')\n",
    )
    monkeypatch.chdir(root)

    assert results("own_package") == {"first": 1, "second": 1}


def test_a_module_is_found_in_the_project_folder(files, monkeypatch):
    root = files(own_module=task("shop", "return 1"))
    monkeypatch.setenv("NIGHTSHIFT_PROJECT", str(root))

    assert results("own_module") == {"shop": 1}


def test_tasks_use_the_modules_of_their_project(files, monkeypatch):
    head = "from own_prices import rate\nimport own_shop.models\n"
    root = files(
        own_prices="rate = 2\n",
        own_shop__INIT="",
        own_shop__models="from own_prices import rate\nname = 'lamp'\n",
        tasks__first=task("first", "return [rate, own_shop.models.name]", head),
    )
    monkeypatch.setenv("NIGHTSHIFT_PROJECT", str(root))

    assert results(root / "tasks") == {"first": [2, "lamp"]}


def test_a_neighbour_comes_before_a_module_of_the_project(files, monkeypatch):
    root = files(
        own_prices="rate = 2\n",
        tasks__own_prices="rate = 3\n",
        tasks__first=task("first", "return own_prices.rate", "import own_prices\n"),
    )
    monkeypatch.setenv("NIGHTSHIFT_PROJECT", str(root))

    assert results(root / "tasks") == {"first": 3}


def test_a_neighbour_named_worker_is_the_files_own(files):
    # `worker` is also the name of Nightshift's inner package.
    head = "from nightshift import task\nimport worker\n"
    body = '@task("shop", browser=False)\ndef run(page, payload, job):\n    return worker.WHO\n'
    root = files(worker="WHO = 'mine'\n", shop=head + body)

    assert results(root / "shop.py") == {"shop": "mine"}


def test_a_neighbour_hides_nothing_of_the_standard_library(files):
    root = files(json="", shop=task("shop", "return json.dumps(1)", "import json\n"))

    assert results(root / "shop.py") == {"shop": "1"}


def test_an_import_by_a_computed_name_works(files):
    late = 'import importlib; return importlib.import_module("own_late").ONE'
    root = files(own_late="ONE = 1\n", shop=task("shop", late))

    assert results(root / "shop.py") == {"shop": 1}


def test_a_file_may_have_any_name(files, tmp_path):
    odd = tmp_path / "my-shop.v2.py"
    odd.write_text(task("shop", "return 1"))

    assert results(odd) == {"shop": 1}


def test_a_neighbour_that_fails_is_told_with_its_own_line(files):
    root = files(helpers="\n1 / 0\n", shop=task("shop", "return 1", "import helpers\n"))
    with pytest.raises(SettingsError) as caught:
        registry.load([str(root / "shop.py")])

    assert f"ZeroDivisionError: division by zero ({root}/helpers.py:2)" in str(caught.value)


def test_a_folder_without_a_task_is_told(files):
    root = files(tasks__helpers="ONE = 1\n")
    with pytest.raises(SettingsError, match="no task in it; mark a function with @task"):
        registry.load([str(root / "tasks")])
