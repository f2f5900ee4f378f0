"""`make screenshots` draws what it is asked for, of a night that is made up for it."""

from __future__ import annotations

import struct
from contextlib import closing, contextmanager
from dataclasses import replace

import pytest

from bench import screenshots, show_night
from bench.server import Bench, create_queue
from worker.database.client import Database
from worker.database_settings import DatabaseSettings


@pytest.fixture
def small_bench(server, tmp_path, monkeypatch):
    """The server of the tests in place of one of its own, and a night of few jobs."""
    settings = DatabaseSettings(database="nightshift_pictures", unix_socket=server.unixsocket)
    monkeypatch.setattr(show_night, "DONE", 60)
    monkeypatch.setattr(show_night, "PENDING", 20)
    monkeypatch.setattr(show_night, "FAILED", dict(zip(show_night.GROUPS, (12, 8, 4), strict=True)))

    @contextmanager
    def bench():
        yield Bench(tmp_path, settings, create_queue(settings))

    monkeypatch.setattr(screenshots, "private_bench", bench)
    yield
    with closing(Database(replace(settings, database=""))) as admin:
        admin.run_statement("DROP DATABASE nightshift_pictures")


def test_a_picture_is_drawn_as_wide_as_it_should_be(small_bench, tmp_path, capsys):
    names = ["errors-390-dark", "job-1280-light"]

    given = ["--all", str(tmp_path / "drawn"), *(f"--only={name}" for name in names)]
    assert screenshots.main(given) == 0

    drawn = sorted((tmp_path / "drawn").iterdir())
    assert [path.stem for path in drawn] == names
    for path, width in zip(drawn, (390, 1280), strict=True):
        head = path.read_bytes()[:24]
        assert head.startswith(b"\x89PNG")
        assert struct.unpack(">I", head[16:20]) == (width,)


def test_a_picture_that_is_not_known_is_refused_before_anything_is_done(capsys):
    with pytest.raises(SystemExit):
        screenshots.main(["--only", "nothing"])

    assert "there is no picture nothing" in capsys.readouterr().err


def test_every_picture_of_the_documents_is_one_that_is_drawn():
    # Those of the bench are plots.
    assert {path.stem for path in screenshots.DOCS.glob("*.png")} == set(screenshots.PICTURES)
