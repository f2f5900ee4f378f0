"""A profile's face is chosen once and kept; the version that it shows never goes back."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker.browser.browser_version import BrowserVersion
from worker.profiles import faces, store
from worker.profiles.specs import spec_of
from worker.profiles.store import NewProfile
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy


@pytest.fixture
def opened(database):
    """Have a profile put on its face, as a worker does that is about to open it."""

    def put_on(name: str, major: int | None):
        profile = store.get(database, name)
        version = None if major is None else BrowserVersion("Chromium", major, f"{major}.0.1.2")
        return faces.put_on(database, profile, spec_of(database, profile), version).face

    return put_on


@pytest.fixture
def older(database):
    """A profile from before there were faces, behind a proxy in Germany."""
    proxies.add_all(database, [Proxy.parse("http://127.0.0.1:1", region="de", name="berlin")])
    store.add(database, [NewProfile("p1", folder=Path("/tmp/p1"), proxy="berlin")], "me")


def test_an_older_profile_gets_its_face_at_its_first_use_and_keeps_it(database, opened, older):
    first = opened("p1", 156)
    kept = store.get(database, "p1")

    assert (first.timezone, first.locale) == ("Europe/Berlin", "de-DE")
    assert json.loads(kept["face"])["timezone"] == "Europe/Berlin"
    database.run_statement("UPDATE proxies SET region = 'us'")
    assert opened("p1", 156) == first


def test_the_version_moves_with_the_browser_and_never_back(database, opened, older):
    shown = [opened("p1", major).version for major in (156, 158, 157, None)]

    assert shown == [156, 158, 158, 158]
    assert store.get(database, "p1")["shown_version"] == 158


def test_nothing_is_written_when_nothing_is_new(database, opened, older):
    opened("p1", 156)
    before = database.run_statement("SHOW SESSION STATUS LIKE 'Com_update'")
    opened("p1", 156)

    assert database.run_statement("SHOW SESSION STATUS LIKE 'Com_update'") == before


def test_what_a_person_chose_is_not_chosen_again(database, opened):
    new = NewProfile("p1", folder=Path("/tmp/p1"), region="fr", face={"locale": "it-IT"})
    store.add(database, [new], "me")

    face = opened("p1", 156)

    assert (face.timezone, face.locale) == ("Europe/Paris", "it-IT")


def test_a_vendors_profile_keeps_the_face_of_its_vendor(database, opened):
    store.add(database, [NewProfile("k", provider="kameleo", vendor_id="7")], "me")

    assert opened("k", 156) is None
    assert store.get(database, "k")["face"] is None


def test_a_browser_without_a_version_gets_none(opened, older):
    assert opened("p1", None) is None
