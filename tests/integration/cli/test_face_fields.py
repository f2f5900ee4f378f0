"""A profile's face as a person chooses it and reads it."""

from __future__ import annotations

import json

import pytest

from tests.integration.profile_cli import ids, refused, said
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


@pytest.fixture
def berlin(database):
    proxies.add_all(
        database,
        [
            Proxy.parse("http://127.0.0.1:1", region="de", name="berlin"),
            Proxy.parse("http://127.0.0.1:2", region="us", name="york"),
        ],
    )


def face_in(database, name: str) -> dict | None:
    (row,) = database.run_statement(f"SELECT face FROM profiles WHERE id = '{name}'")
    return row["face"] and json.loads(row["face"])


def test_a_new_profile_lives_where_its_proxy_is(cli, berlin):
    told = said(cli("profiles", "add", "p1", "--proxy", "berlin"))

    assert "sites see it in Europe/Berlin, de-DE,de,en, linux, 1280x720" in told
    shown = said(cli("profiles", "show", "p1"))
    assert "  timezone  Europe/Berlin\n" in shown
    assert "  locale    de-DE (de-DE,de,en)\n" in shown
    assert "  agent     linux, with the browser's version\n" in shown
    assert "  viewport  1280x720 on a screen of 1440x900\n" in shown
    face = json.loads(said(cli("profiles", "show", "p1", "--json")))["profile"]["face"]
    assert face["languages"] == ["de-DE", "de", "en"]


def test_once_it_was_used_its_whole_user_agent_is_shown(cli, database, berlin):
    said(cli("profiles", "add", "p1", "--proxy", "berlin"))
    database.run_statement("UPDATE profiles SET shown_version = 156")

    shown = said(cli("profiles", "show", "p1"))
    assert "  agent     Mozilla/5.0 (X11; Linux x86_64) " in shown
    assert " Chrome/156.0.0.0 Safari/537.36\n" in shown


def test_an_unknown_region_is_neutral_and_that_is_said(cli, database):
    told = said(cli("profiles", "add", "p1", "--region", "atlantis"))

    assert "sites see it in UTC, en-US,en, linux, 1280x720" in told
    assert "no known region says where it is; choose: launcher.py profiles set p1" in told
    assert face_in(database, "p1")["timezone"] == "UTC"


def test_a_face_is_chosen_and_changed_by_flags(cli, database, berlin):
    said(
        cli(
            *("profiles", "add", "p1", "--timezone", "Europe/Vienna", "--locale", "de_at"),
            *("--user-agent", "windows", "--viewport", "1600x900"),
        )
    )
    chosen = {"timezone": "Europe/Vienna", "locale": "de-AT"}
    assert face_in(database, "p1") == chosen | {"system": "windows", "viewport": "1600x900"}

    told = said(cli("profiles", "set", "p1", "--viewport", "1280x720", "--user-agent", "linux"))

    assert told == ("changed p1: user_agent windows → linux, viewport 1600x900 → 1280x720")
    assert face_in(database, "p1") == chosen | {"system": "linux", "viewport": "1280x720"}


def test_a_proxy_elsewhere_leaves_the_face_and_that_is_said(cli, database, berlin):
    said(cli("profiles", "add", "p1", "--proxy", "berlin"))

    told = said(cli("profiles", "set", "p1", "--proxy", "york"))

    assert "sites see it in Europe/Berlin as before, but its proxy is in us" in told
    assert face_in(database, "p1")["timezone"] == "Europe/Berlin"


def test_faces_are_imported(cli, database, berlin, tmp_path):
    file = tmp_path / "profiles.csv"
    file.write_text(
        "id,proxy,timezone,locale,user_agent,viewport\n"
        "p1,berlin,,,,\n"
        "p2,,Asia/Tokyo,ja-JP,macos,1440x700\n"
        "p3,,,,,\n"
    )

    told = said(cli("profiles", "import", file))

    assert "sites see 1 of them in UTC: no known region says where they are" in told
    assert face_in(database, "p1")["locale"] == "de-DE"
    assert face_in(database, "p2") == {
        "timezone": "Asia/Tokyo",
        "locale": "ja-JP",
        "system": "macos",
        "viewport": "1440x700",
    }


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        (["--timezone", "Europe/Berln"], "did you mean Europe/Berlin?"),
        (["--locale", "german"], "write one as de-DE"),
        (["--user-agent", "curl/8"], "linux, windows, macos"),
        (["--viewport", "big"], "write one as 1280x720"),
    ],
)
def test_a_face_that_cannot_be_is_one_line_and_changes_nothing(cli, database, flags, why):
    (line,) = refused(cli("profiles", "add", "p1", *flags)).splitlines()
    assert why in line
    assert ids(database) == []

    said(cli("profiles", "add", "p1"))
    before = face_in(database, "p1")
    (line,) = refused(cli("profiles", "set", "p1", *flags)).splitlines()
    assert why in line
    assert face_in(database, "p1") == before


@pytest.mark.parametrize(
    "profile",
    [("--provider", "kameleo", "--vendor-id", "7"), ("--provider", "cdp", "--endpoint", "9222")],
)
def test_a_vendors_browser_has_its_own_face(cli, database, profile):
    (line,) = refused(
        cli("profiles", "add", "p1", *profile, "--timezone", "UTC", "--user-agent", "linux")
    ).splitlines()
    assert f"--timezone, --user-agent: what sites see of a {profile[1]} profile" in line
    assert ids(database) == []

    said(cli("profiles", "add", "p1", *profile))
    assert f"  face      its browser's own ({profile[1]})" in said(cli("profiles", "show", "p1"))
    refused(cli("profiles", "set", "p1", "--locale", "de-DE"))
    assert face_in(database, "p1") is None
