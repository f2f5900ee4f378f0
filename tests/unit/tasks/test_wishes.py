"""What run, task and job wish of a context, put together: the nearer one wins."""

from __future__ import annotations

import json

import pytest

from worker.errors import Fail
from worker.tasks import wishes
from worker.tasks.devices import options_of
from worker.tasks.wishes import NONE, NOTHING, Declared, Wishes, merged

STATE = {
    "cookies": [
        {"name": "sid", "value": "hunter22-hunter22", "domain": "shop.example", "path": "/"},
        {"name": "theme", "value": "dark", "domain": "shop.example", "path": "/"},
    ],
    "origins": [
        {
            "origin": "https://shop.example",
            "localStorage": [
                {"name": "token", "value": "swordfish"},
                {"name": "theme", "value": "dark-and-blue"},
            ],
        }
    ],
}
WIDE, NARROW = {"width": 1600, "height": 900}, {"width": 400, "height": 800}


def said(**context) -> Declared:
    return Declared(context)


def test_who_wishes_for_nothing_gets_the_context_that_everybody_gets():
    assert merged(NOTHING, NOTHING, NOTHING) == NONE
    assert not NONE
    assert NONE.options == {}
    assert list(NONE.secrets()) == []


def test_the_nearer_one_wins_option_by_option():
    found = merged(
        said(locale="de-DE", color_scheme="dark", offline=True),
        said(locale="fr-FR", offline=False),
        said(locale="it-IT"),
    )

    assert found.options == {"locale": "it-IT", "color_scheme": "dark", "offline": False}


def test_equal_wishes_are_equal_whoever_said_them():
    assert merged(said(locale="de-DE", offline=True), NOTHING, NOTHING) == merged(
        NOTHING, said(offline=True), said(locale="de-DE")
    )
    assert hash(merged(said(offline=True), NOTHING, NOTHING)) is not None


def test_a_device_is_the_options_that_it_consists_of():
    found = merged(NOTHING, said(device="iPhone 15", locale="de-DE"), NOTHING).options

    assert found == {**options_of("iPhone 15"), "locale": "de-DE"}
    assert "default_browser_type" not in found
    assert found["is_mobile"] is True


def test_what_one_level_says_beside_its_device_is_meant_of_that_device():
    found = merged(NOTHING, said(device="iPhone 15", viewport=NARROW), NOTHING).options

    assert found["viewport"] == NARROW
    assert found["screen"] == options_of("iPhone 15")["screen"]


def test_a_nearer_device_takes_the_place_of_a_whole_look():
    run = said(viewport=WIDE, screen=WIDE, user_agent="x", locale="de-DE")
    found = merged(run, said(device="Desktop Chrome"), NOTHING).options

    assert found == {**options_of("Desktop Chrome"), "locale": "de-DE"}
    free = merged(said(no_viewport=True), said(device="iPhone 15"), NOTHING).options
    assert "no_viewport" not in free


def test_a_screen_belongs_to_its_viewport():
    assert merged(said(viewport=WIDE, screen=WIDE), said(viewport=NARROW), NOTHING).options == {
        "viewport": NARROW
    }
    assert merged(said(device="iPhone 15"), said(no_viewport=True), NOTHING).options == {
        "no_viewport": True,
        "user_agent": options_of("iPhone 15")["user_agent"],
        "has_touch": True,
    }


def test_a_task_blocks_in_place_of_its_run_and_a_job_adds_to_that():
    run, task, job = (Declared(block=(name,)) for name in ("font", "image", "media"))

    assert merged(run, NOTHING, NOTHING).block == ("font",)
    assert merged(run, task, NOTHING).block == ("image",)
    assert merged(run, task, job).block == ("image", "media")
    assert merged(run, Declared(block=()), NOTHING) == NONE


def test_a_secret_is_read_by_its_name_and_known_as_one(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_TOKEN", "hunter22-hunter22")
    task = said(extra_http_headers={"Authorization": {"secret": "SHOP_TOKEN"}, "X-Team": "night"})
    found = merged(NOTHING, task, NOTHING)

    assert found.options["extra_http_headers"] == {
        "Authorization": "hunter22-hunter22",
        "X-Team": "night",
    }
    assert list(found.secrets()) == ["hunter22-hunter22"]
    assert "hunter22" not in repr(found)
    assert "hunter22" not in repr(task)


def test_a_secret_that_is_not_there_is_said():
    with pytest.raises(Fail, match="there is no secret NO_SUCH_THING"):
        merged(
            NOTHING,
            said(http_credentials={"username": "me", "password": {"secret": "NO_SUCH_THING"}}),
            NOTHING,
        )


@pytest.fixture
def project(tmp_path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NIGHTSHIFT_PROJECT", str(tmp_path))
    return tmp_path


def test_a_storage_state_is_what_is_in_its_file_now(project):
    task = said(storage_state="state.json")
    (project / "state.json").write_text(json.dumps(STATE))
    before = merged(NOTHING, task, NOTHING)
    (project / "state.json").write_text('{"cookies": []}')

    assert before.options == {"storage_state": STATE}
    assert list(before.secrets()) == ["hunter22-hunter22", "swordfish"]
    assert merged(NOTHING, task, NOTHING) != before


def test_a_storage_state_may_be_a_secret_or_stand_in_the_task(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SHOP_STATE", json.dumps(STATE))
    by_name = merged(NOTHING, said(storage_state={"secret": "SHOP_STATE"}), NOTHING)

    assert by_name == merged(NOTHING, said(storage_state=STATE), NOTHING)


@pytest.mark.parametrize("content", [None, "", "[]", '{"cookie": []}', "hunter22"])
def test_a_storage_state_that_cannot_be_read_is_said_and_not_repeated(project, content):
    if content is not None:
        (project / "state.json").write_text(content)

    with pytest.raises(Fail, match=r"storage_state: \S+state.json ") as caught:
        merged(NOTHING, said(storage_state="state.json"), NOTHING)
    assert "hunter22" not in str(caught.value)


@pytest.mark.parametrize(
    ("declared", "is_steady"),
    [
        (said(locale="de-DE", viewport=WIDE, device="iPhone 15", storage_state=STATE), True),
        (said(storage_state="state.json"), False),
        (said(storage_state={"secret": "SHOP_STATE"}), False),
        (said(extra_http_headers={"A": {"secret": "SHOP_TOKEN"}}), False),
    ],
)
def test_what_is_read_anew_is_told_from_what_stays(declared, is_steady):
    assert declared.is_steady is is_steady


def test_a_page_that_keeps_a_storage_state_cannot_be_emptied():
    assert Wishes('{"locale": "de-DE"}').can_be_emptied
    assert not merged(NOTHING, said(storage_state=STATE), NOTHING).can_be_emptied


def test_what_is_wrong_is_said_with_its_place():
    with pytest.raises(ValueError, match="context: unknown option viewprt; did you mean viewport"):
        wishes.of_task({"viewprt": 1}, None)
    with pytest.raises(ValueError, match="block: 'imge' is neither"):
        wishes.of_job(None, ["imge"])
    assert wishes.of_run('{"locale": "de-DE"}', ["Image"]) == Declared(
        {"locale": "de-DE"}, ("image",)
    )
