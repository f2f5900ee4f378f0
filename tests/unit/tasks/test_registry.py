"""Loading tasks: the built-in ones, the user's own, and everything a task file can get wrong."""

from __future__ import annotations

import sys

import pytest

from worker.errors import SettingsError, TaskNotFound
from worker.tasks import registry

BUILT_IN = ["extract", "pdf", "screenshot", "steps", "visit"]
GOOD = """
from worker import task

@task("count", timeout=5, max_attempts=2, isolation="context", browser=False)
def count(page, payload, job):
    return {"count": 1}
"""


@pytest.fixture(autouse=True)
def imports_are_undone(monkeypatch):
    """Loading a file changes where and what Python imports; a test must not."""
    before = set(sys.modules)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("nightshift_tasks", "own_")):
            del sys.modules[name]


@pytest.fixture
def write(tmp_path):
    def write(text: str, name: str = "own_tasks.py") -> str:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return str(tmp_path / name)

    return write


def refusal(source: str) -> str:
    with pytest.raises(SettingsError) as caught:
        registry.load([source])
    text = str(caught.value)
    assert text.startswith(f"--tasks {source}")
    assert "\n" not in text
    return text


def test_five_tasks_are_built_in():
    assert registry.load().names == BUILT_IN


def test_a_file_gives_its_tasks_with_their_wishes(write):
    tasks = registry.load([write(GOOD)])
    assert tasks.names == ["count", *BUILT_IN]
    found = tasks.get("count")
    assert (found.timeout_seconds, found.max_attempts) == (5, 2)
    assert (found.isolation, found.browser) == ("context", False)
    assert found.function(None, {}, None) == {"count": 1}


def test_a_module_is_found_by_its_name_from_where_one_stands(write, tmp_path, monkeypatch):
    write(GOOD, "own_module.py")
    monkeypatch.chdir(tmp_path)
    assert registry.load(["own_module"]).names == ["count", *BUILT_IN]


def test_a_file_can_import_its_neighbour(write):
    write("NUMBER = 7\n", "own_neighbour.py")
    tasks = registry.load([write("from own_neighbour import NUMBER\n" + GOOD)])
    assert "count" in tasks.names


def test_several_files_add_up_even_if_they_share_a_name(write, tmp_path):
    (tmp_path / "other").mkdir()
    first = write(GOOD)
    second = write(GOOD.replace('task("count"', 'task("tally"'), "other/own_tasks.py")
    assert registry.load([first, second]).names == sorted(["count", "tally", *BUILT_IN])


def test_a_task_with_the_name_of_a_built_in_one_is_refused_with_both_places(write):
    source = write(GOOD.replace('task("count"', 'task("visit"'))
    text = refusal(source)
    assert f"task visit ({source}:4) is also the name of a built-in task" in text
    assert "worker/tasks/visit.py:" in text


def test_a_second_task_of_a_name_is_refused_with_both_places(write):
    first, second = write(GOOD), write("\n" + GOOD, "own_others.py")
    with pytest.raises(SettingsError) as caught:
        registry.load([first, second])
    assert f"task count ({second}:5) is a second task of that name ({first}:4)" in str(caught.value)


def test_a_task_that_another_file_imports_is_the_same_task(write):
    first = write(GOOD)
    second = write("from own_tasks import count\n", "own_others.py")
    assert registry.load([first, second, first]).names == ["count", *BUILT_IN]


@pytest.mark.parametrize("body", ["return 1", "yield 1"])
def test_an_async_task_is_refused_in_one_line(write, body):
    text = refusal(
        write(f"""
from worker import task

@task("later")
async def later(page, payload, job):
    {body}
""")
    )
    assert "task later" in text
    assert "is async def; write it as def" in text


def test_a_name_that_ends_with_a_blank_is_refused(write):
    text = refusal(write(GOOD.replace('"count",', '"count ",')))

    assert "the name 'count ' ends with a blank" in text


def test_a_task_is_found_for_a_row_whose_blank_the_server_does_not_see():
    assert registry.load().get("visit ").name == "visit"


def test_loading_a_file_does_not_change_what_others_have_loaded(write):
    registry.load([write(GOOD)])
    assert registry.load().names == BUILT_IN


def test_a_task_that_is_not_there_is_told_with_those_that_are(write):
    tasks = registry.load([write(GOOD)])
    assert tasks.find("cuont") is None
    with pytest.raises(TaskNotFound, match=r"'cuont'.*known: count, .*visit.*--tasks FILE"):
        tasks.get("cuont")


def test_a_syntax_error_is_told_with_its_line(write):
    source = write("x = 1\ndef broken(:\n")
    assert f"syntax error in {source}:2" in refusal(source)


def test_an_import_error_is_told_with_its_line(write):
    source = write("\nimport no_such_module_anywhere\n")
    text = refusal(source)
    assert "ModuleNotFoundError: No module named 'no_such_module_anywhere'" in text
    assert f"({source}:2)" in text


def test_a_file_that_exits_is_told_and_does_not_end_us(write):
    assert "SystemExit: 3" in refusal(write("import sys\nsys.exit(3)\n"))


def test_an_error_of_several_lines_is_told_in_one(write):
    text = refusal(write("raise RuntimeError('first\\nsecond')\n"))
    assert "first" in text
    assert "second" in text


def test_a_file_without_a_task_is_told_with_the_remedy(write):
    assert "no task in it; mark a function with @task" in refusal(write("x = 1\n"))


def test_a_missing_file_is_told():
    assert "there is no such file" in refusal("/nowhere/own_tasks.py")


def test_a_missing_module_is_told_with_how_to_name_a_file():
    assert "for a file write its path: ./no_such_module.py" in refusal("no_such_module")


@pytest.mark.parametrize("source", ["no.such.module", "a b", ".relative"])
def test_a_name_that_is_no_module_is_told_in_one_line(source):
    refusal(source)


def test_a_file_that_is_no_text_is_told(tmp_path):
    path = tmp_path / "own_tasks.py"
    path.write_bytes(b"\xff\xfe\x00")
    refusal(str(path))


def test_an_object_that_answers_to_nothing_does_not_spoil_its_file(write):
    # Such as a web framework's `request` outside of a request.
    strange = """
class Strange:
    def __getattr__(self, name):
        raise RuntimeError("outside of a request")

request = Strange()
"""
    assert "count" in registry.load([write(strange + GOOD)]).names


def test_a_task_names_the_schemes_and_downloads_it_wants():
    @registry.task("reader", schemes="FILE", downloads=True)
    def reader(page, payload, job):
        pass

    found = registry.task_of(reader)
    assert (found.schemes, found.downloads) == (("file",), True)


@pytest.mark.parametrize("schemes", ["file:", ("file", ""), "//", (1,)])
def test_a_scheme_that_cannot_be_meant_is_refused(schemes):
    with pytest.raises(SettingsError, match=r'task reader: schemes=.* such as \("file",\)'):
        registry.task("reader", schemes=schemes)


def test_a_task_says_plainly_whether_its_steps_are_guessed_by():
    assert registry.task_of(registry.task("a", guess_half_done=False)(print_nothing)).name == "a"
    with pytest.raises(SettingsError, match="task b: guess_half_done='no'; give True or False"):
        registry.task("b", guess_half_done="no")  # type: ignore[arg-type]


def print_nothing(page, payload, job):
    """Do nothing."""


WISHING = """
from nightshift import task

@task("price", {options})
def price(page, payload, job):
    pass
"""


def test_a_task_says_what_its_context_is_and_what_it_does_not_load(write):
    source = write(WISHING.format(options='context={"device": "iPhone 15"}, block="Image"'))
    found = registry.load([source]).get("price").wishes

    assert (found.context, found.block) == ({"device": "iPhone 15"}, ("image",))


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ('context={"viewprt": {}}', "context: unknown option viewprt; did you mean viewport?"),
        ('context={"viewport": 5}', "context: viewport: expected "),
        ('context={"device": "iPhone15"}', "context: device: Playwright knows no 'iPhone15'; did"),
        ("context=5", "context: give options by name"),
        ('block=["imge"]', "block: 'imge' is neither a host"),
        ("block=5", "block: expected a list"),
        ('browser=False, block=["image"]', "browser=False has no page"),
        ('isolation="page", context={"storage_state": "s.json"}', "keeps no storage_state"),
    ],
)
def test_a_wrong_wish_is_told_with_task_file_and_line(write, options, told):
    source = write(WISHING.format(options=options))
    text = refusal(source)

    assert f"task price ({source}:4): " in text
    assert told in text
