"""`launcher.py metrics`: on stdout, or as a file that a collector may read at any moment."""

from __future__ import annotations

import json
import stat
from functools import partial

import pytest

from tests.lifecycle.conftest import run_command, url_of


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_metrics_go_to_stdout(cli, database):
    done = cli("metrics")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("# HELP nightshift_up ")
    assert "\nnightshift_up 1\n" in done.stdout


def test_metrics_as_json_are_the_same_samples(cli, database, queue):
    queue.enqueue("visit", {})
    told = json.loads(cli("metrics", "--json").stdout)["metrics"]

    by_name = {family["name"]: family for family in told}
    assert by_name["nightshift_up"]["samples"] == [
        {"name": "nightshift_up", "labels": {}, "value": 1}
    ]
    jobs = {
        sample["labels"]["status"]: sample["value"]
        for sample in by_name["nightshift_jobs"]["samples"]
    }
    assert jobs["pending"] == 1
    lines = [line for line in cli("metrics").stdout.splitlines() if line.startswith("# TYPE")]
    assert lines == [f"# TYPE {family['name']} {family['kind']}" for family in told]


def test_metrics_as_json_go_into_no_textfile(cli, database, tmp_path):
    done = cli("metrics", "--json", "--textfile", tmp_path / "x.prom")

    assert (done.returncode, done.stdout) == (2, "")
    assert "give --json or --textfile, not both" in done.stderr


def test_a_textfile_is_replaced_whole_and_readable_by_the_collector(cli, database, tmp_path):
    folder = tmp_path / "collector"
    folder.mkdir()
    file = folder / "nightshift.prom"
    file.write_text("old")
    old = file.open()

    done = cli("metrics", "--textfile", file)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "\nnightshift_up 1\n" in file.read_text()
    assert stat.S_IMODE(file.stat().st_mode) == 0o644
    # Whoever was reading has the old file whole.
    with old:
        assert old.read() == "old"
    assert [path.name for path in folder.iterdir()] == ["nightshift.prom"]


def test_a_textfile_that_cannot_be_written_is_a_wrong_setting(cli, database, tmp_path):
    done = cli("metrics", "--textfile", tmp_path / "nowhere" / "nightshift.prom")

    assert done.returncode == 78
    assert "cannot be written: No such file or directory" in done.stderr
    assert done.stderr.count("\n") == 1


def test_without_a_database_the_metrics_say_so(tmp_path, closed_port):
    file = tmp_path / "nightshift.prom"
    away = f"mysql://nobody:hush-hush@127.0.0.1:{closed_port}/nightshift"

    done = run_command(tmp_path, "metrics", "--textfile", file, DATABASE_URL=away)

    assert done.returncode == 69
    assert "\nnightshift_up 0\n" in file.read_text()
    assert "hush-hush" not in done.stderr + file.read_text()
