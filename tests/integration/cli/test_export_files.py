"""A workbook that `export` writes: a real one, whose texts are texts."""

from __future__ import annotations

import zipfile
from functools import partial
from xml.etree import ElementTree

import pytest

from tests.lifecycle.conftest import run_command, url_of
from worker.cli import export_files
from worker.errors import SettingsError


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def sheets(path):
    """The cells of a workbook, read as the plain XML that it is."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = sorted(name for name in archive.namelist() if "worksheets/sheet" in name)
        trees = [ElementTree.fromstring(archive.read(name)) for name in names]
    return [
        [
            [(cell.get("t"), "".join(cell.itertext())) for cell in row.iter(f"{space}c")]
            for row in tree.iter(f"{space}row")
        ]
        for tree in trees
    ]


def test_a_workbook_is_a_real_one_whose_texts_are_texts(cli, finish, tmp_path):
    finish({"title": "=1+1", "price": 1.5, "big": 10**17, "ok": True, "long": "x" * 40_000}, ago=9)
    finish({"title": "Zwei 🦉 https://example.com", "tags": ["a"]}, ago=8)
    path = tmp_path / "out.xlsx"

    done = cli("export", "-o", path, "--columns", "title,price,big,ok,long,tags,finished_at")

    assert (done.returncode, done.stderr) == (0, f"exported 2 jobs to {path}\n")
    ((header, one, two),) = sheets(path)
    assert [text for _, text in header][:4] == ["title", "price", "big", "ok"]
    assert one[:4] == [
        ("inlineStr", "=1+1"), (None, "1.5"), ("inlineStr", str(10**17)), ("b", "1"),
    ]  # fmt: skip
    assert len(one[4][1]) == 32_767
    assert [text for _, text in two][:2] == ["Zwei 🦉 https://example.com", '["a"]']
    assert two[-1][1].endswith("Z")


def test_a_workbook_wants_a_file_and_an_end(cli, finish, tmp_path):
    assert "give -o results.xlsx" in cli("export", "--format", "xlsx").stderr
    done = cli("export", "-o", tmp_path / "x.xlsx", "--follow")
    assert (done.returncode, "--follow cannot go on in a workbook" in done.stderr) == (2, True)
    assert cli("export", "-o", tmp_path / "x.XLSX").stderr.startswith("exported 0 jobs")
    assert len(sheets(tmp_path / "x.XLSX")) == 1


def test_without_its_library_a_workbook_is_refused_in_one_line(monkeypatch, tmp_path):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(SettingsError, match=r"pip install 'nightshift\[xlsx\]'"):
        export_files.check_workbook(tmp_path / "x.xlsx", is_followed=False)


def test_what_does_not_fit_one_sheet_goes_to_the_next(monkeypatch, tmp_path):
    monkeypatch.setattr(export_files, "SHEET_ROWS", 3)
    jobs = [{"id": n, "payload": {}, "result": None} for n in range(5)]

    export_files.write_workbook(jobs, tmp_path / "x.xlsx", ["id"])

    assert [[row[0][1] for row in sheet] for sheet in sheets(tmp_path / "x.xlsx")] == [
        ["id", "0", "1"], ["id", "2", "3"], ["id", "4"],
    ]  # fmt: skip
