"""The live wall: asked for while somebody looks, shown to them alone, and removed after."""

from __future__ import annotations

import os
import socket
import time

import pytest

from tests.dashboard_site import made
from worker.dashboard import wall as walls
from worker.dashboard.wall import Wall
from worker.dashboard.workers_now import WorkerNow
from worker.system import live_wall

IMAGE = live_wall.JPEG + b"a small page"


def folder_of(site):
    return live_wall.folder_of(site.config.state_dir, site.config.database.key)


def lapse(folder):
    long_ago = time.time() - live_wall.WISH_SECONDS - 1
    os.utime(folder / live_wall.WISH, (long_ago, long_ago))


@pytest.fixture
def own_site(server, tmp_path):
    with made(server, tmp_path) as site:
        yield site
        site.app.extensions["nightshift"].wall.close()


def test_only_who_looks_at_the_wall_asks_for_pictures(own_site):
    client = own_site.client()
    for path in ("/", "/workers", "/errors", "/api/v1/status"):
        client.get(path)
    assert not live_wall.is_asked(folder_of(own_site))

    client.get("/live")

    assert live_wall.is_asked(folder_of(own_site))


def test_another_sites_link_asks_for_nothing(own_site):
    own_site.client().get("/live", headers={"Sec-Fetch-Site": "cross-site"})

    assert not live_wall.is_asked(folder_of(own_site))


def test_a_workers_picture_is_on_the_wall_with_its_job_and_age(own_site):
    client = own_site.client()
    assert "Its page is shown in a moment." in client.get("/live").text

    live_wall.keep(folder_of(own_site), 1, 75, IMAGE)
    text = client.get("/live").text
    answer = client.get("/live/1.jpg")

    assert 'src="/live/1.jpg?v=' in text
    assert "The page of worker 0 at job 75" in text
    assert answer.data == IMAGE
    assert answer.content_type == "image/jpeg"


def test_nobody_on_the_way_may_keep_a_picture(own_site):
    live_wall.ask(folder_of(own_site))
    live_wall.keep(folder_of(own_site), 1, 75, IMAGE)

    headers = own_site.client().get("/live/1.jpg").headers

    assert "no-store" in headers["Cache-Control"]
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_a_picture_that_is_not_to_be_had_says_why(own_site):
    client = own_site.client()
    live_wall.ask(folder_of(own_site))
    live_wall.keep(folder_of(own_site), 1, 75, b"", "no picture while a trace is recorded")

    assert "Job 75: no picture while a trace is recorded." in client.get("/live").text
    assert client.get("/live/1.jpg").status_code == 404
    assert client.get("/live/99.jpg").status_code == 404


def test_of_the_dead_there_is_no_picture(own_site):
    assert "It is dead: there is no page." in own_site.client().get("/live").text


def test_a_worker_elsewhere_is_shown_where_it_is(tmp_path):
    here, elsewhere = (
        WorkerNow(1, slot, host, "working", 5, 1.0, "", 0, incarnation=7)
        for slot, host in enumerate((socket.gethostname(), "night-9"))
    )
    wall = Wall(tmp_path / "live")
    wall.ask()
    live_wall.keep(wall.folder, 7, 5, IMAGE)

    panes = wall.panes([here, elsewhere])
    wall.close()

    assert panes[0].picture is not None
    assert panes[1].picture is None
    assert "open a dashboard there" in panes[1].why


def test_a_folder_that_is_not_ours_is_said_and_breaks_nothing(tmp_path):
    (tmp_path / "live").write_text("a file in its place")
    wall = Wall(tmp_path / "live" / "main")

    wall.ask()
    (pane,) = wall.panes([WorkerNow(1, 0, socket.gethostname(), "idle", None, None, "", 0)])

    assert pane.why.startswith("No pictures: ")


def test_pictures_go_when_nobody_looks_also_when_their_pool_is_dead(tmp_path, monkeypatch):
    monkeypatch.setattr(walls, "TIDY_SECONDS", 0.05)
    wall = Wall(tmp_path / "live" / "main")
    wall.ask()
    live_wall.keep(wall.folder, 7, 5, IMAGE)
    lapse(wall.folder)

    deadline = time.monotonic() + 10
    while list(wall.folder.iterdir()):
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_dashboard_that_ends_leaves_nothing(tmp_path):
    wall = Wall(tmp_path / "live" / "main")
    wall.ask()
    live_wall.keep(wall.folder, 7, 5, IMAGE)

    wall.close()

    assert list(wall.folder.iterdir()) == []
