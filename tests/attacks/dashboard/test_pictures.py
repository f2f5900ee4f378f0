"""Live pictures show private pages: only who is signed in sees them, and nothing else by them."""

from __future__ import annotations

import pytest

from tests.dashboard_site import made
from worker.system import live_wall

IMAGE = live_wall.JPEG + b"somebody's account"


@pytest.fixture
def site(server, tmp_path):
    with made(server, tmp_path) as found:
        found.add_people()
        folder = live_wall.folder_of(found.config.state_dir, found.config.database.key)
        live_wall.ask(folder)
        live_wall.keep(folder, 1, 75, IMAGE)
        yield found


def test_only_who_is_signed_in_sees_a_picture(site):
    token = {"Authorization": f"Bearer {site.people.add_token('grafana')}"}

    assert site.client().get("/live/1.jpg").location == "/sign-in"
    assert site.client().get("/live/1.jpg", headers=token).location == "/sign-in"
    assert site.client("vic").get("/live/1.jpg").data == IMAGE


def test_who_is_not_signed_in_has_nothing_photographed(site):
    folder = live_wall.folder_of(site.config.state_dir, site.config.database.key)
    live_wall.stop_asking(folder)

    site.client().get("/live")

    assert not live_wall.is_asked(folder)


@pytest.mark.parametrize("name", ["..%2f1", "wanted", "-1", "1.picture", "%2fetc%2fpasswd", "1/.."])
def test_no_path_leads_out(site, name):
    assert site.client("mara").get(f"/live/{name}.jpg").status_code in (400, 404)


def test_what_is_no_picture_is_not_sent(site):
    folder = live_wall.folder_of(site.config.state_dir, site.config.database.key)
    (folder / "2.picture").write_bytes(b'{"job": 1, "why": ""}\n<script>alert(1)</script>')
    elsewhere = site.config.state_dir / "elsewhere"
    elsewhere.write_bytes(b'{"job": 1, "why": ""}\n' + IMAGE)
    (folder / "3.picture").symlink_to(elsewhere)

    client = site.client("mara")

    assert client.get("/live/2.jpg").status_code == 404
    assert client.get("/live/3.jpg").status_code == 404


def test_a_reason_that_a_stranger_wrote_is_only_text(site):
    folder = live_wall.folder_of(site.config.state_dir, site.config.database.key)
    live_wall.keep(folder, 1, 75, b"", "<script>window.hacked=1</script>")

    text = site.client("vic").get("/live").text

    assert "&lt;script&gt;window.hacked" in text
    assert "<script>window.hacked" not in text
