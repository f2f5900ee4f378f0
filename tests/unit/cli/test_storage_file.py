"""A file of cookies: what is taken for one, and where none is written."""

from __future__ import annotations

import json

import pytest

from worker.cli import storage_file
from worker.errors import UsageError

COOKIE = {"name": "sid", "value": "s3cret-value", "domain": "shop.test", "path": "/"}


def test_what_playwright_writes_is_read_and_what_it_does_not_take_is_left_out(tmp_path):
    file = tmp_path / "state.json"
    state = {"cookies": [COOKIE | {"hostOnly": True, "expires": -1}], "origins": []}
    file.write_text(json.dumps(state))

    assert storage_file.read(str(file)) == {"cookies": [COOKIE | {"expires": -1}], "origins": []}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("{", "is not JSON"),
        ([], "is no storage state"),
        ({"cookies": {}}, "is no storage state"),
        ({"cookies": [{"name": "sid", "value": "s3cret-value"}]}, "cookie 1 lacks"),
        ({"cookies": [COOKIE, "s3cret-value"]}, "cookie 2 lacks"),
        ({"cookies": [], "origins": [{"origin": "file:///etc"}]}, "origin 1 is no storage"),
        ({"cookies": [], "origins": [{"origin": "https://a.test"}]}, "origin 1 is no storage"),
    ],
)
def test_another_file_is_refused_in_one_line_without_its_values(tmp_path, state, why):
    file = tmp_path / "state.json"
    file.write_text(state if isinstance(state, str) else json.dumps(state))

    with pytest.raises(UsageError, match=why) as caught:
        storage_file.read(str(file))

    assert "s3cret" not in str(caught.value)
    assert "nothing was changed" in str(caught.value)


def test_cookies_without_an_end_can_be_given_one():
    state = {"cookies": [COOKIE | {"expires": -1}, COOKIE, COOKIE | {"expires": 5000000000.0}]}
    assert len(storage_file.session_cookies(state)) == 2

    storage_file.make_lasting(state, 60)

    assert storage_file.session_cookies(state) == []
    assert state["cookies"][2]["expires"] == 5000000000.0


def test_a_file_that_is_there_is_not_written_over(tmp_path):
    (tmp_path / "mine").touch()

    with pytest.raises(UsageError, match="exists already"):
        storage_file.require_place(str(tmp_path / "mine"), reveal=False)


@pytest.mark.parametrize("url", ["shop.test", "ftp://shop.test/", "https://me:pw@shop.test/", ""])
def test_an_origin_is_a_site_without_a_login(url):
    with pytest.raises(UsageError, match="--origin"):
        storage_file.origin_of(url)
    assert storage_file.origin_of("https://shop.test:8443/a?b#c") == "https://shop.test:8443"
