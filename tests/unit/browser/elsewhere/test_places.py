"""Where to connect now: addresses made whole, and functions of the user's own, whatever they do."""

from __future__ import annotations

import pytest

from worker.browser.elsewhere import places
from worker.browser.elsewhere.config import take
from worker.browser.elsewhere.endpoints import Speech
from worker.browser.elsewhere.places import is_reachable, place_of, require_functions
from worker.browser.elsewhere.troubles import EndpointFailed
from worker.errors import SettingsError


@pytest.fixture
def ask(tmp_path):
    """Ask a function whose body is given, as the worker of slot 3 does."""

    def ask(body: str):
        file = tmp_path / "broker.py"
        file.write_text(f"import time\ncalls = []\ndef endpoint(slot):\n    {body}\n")
        found = take([f"{file}:endpoint"], {"NIGHTSHIFT_BROWSER_HEADERS": '{"X-Common": "c"}'})
        return place_of(found.endpoints[0], found, 3)

    return ask


def test_a_session_may_be_named_by_us_anew_for_every_connection():
    found = take(["wss://host.test?id={session}"], {})
    first, second = (place_of(found.endpoints[0], found, 0) for _ in range(2))

    assert first.url == f"wss://host.test?id={first.session}"
    assert first.session != second.session
    assert first.speech is Speech.CDP


def test_a_function_is_called_anew_with_the_slot_and_may_return_headers(ask):
    place = ask("return f'cdp+wss://host.test/{slot}', {'Authorization': 'Bearer signed-now'}")

    assert (place.speech, place.url) == (Speech.CDP, "wss://host.test/3")
    assert place.headers == {"X-Common": "c", "Authorization": "Bearer signed-now"}
    assert "signed-now" not in repr(place)


def test_a_function_may_tell_of_its_session(ask):
    place = ask("return 'ws://h/', None, {'session': 7, 'live': 'https://app.test/7'}")

    assert (place.session, place.live_url) == ("7", "https://app.test/7")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("raise SystemExit('no\\nmore')", "it raised SystemExit: no more"),
        ("return None", "neither (url, headers) nor"),
        ("return 'broker.py:endpoint'", "no address of a browser"),
        ("return 'ws://h/', 5", "its headers are no dict"),
        ("return 1, 2, 3, 4", "neither (url, headers) nor"),
    ],
)
def test_whatever_a_function_does_is_one_line(ask, body, words):
    with pytest.raises(EndpointFailed) as failed:
        ask(body)

    assert words in str(failed.value)


def test_a_function_that_hangs_is_left_behind(ask, monkeypatch):
    monkeypatch.setattr(places, "FUNCTION_SECONDS", 0.05)

    with pytest.raises(EndpointFailed, match="no answer in"):
        ask("time.sleep(1)")


def test_a_function_that_is_not_there_is_a_wrong_setting(tmp_path):
    (tmp_path / "broker.py").write_text("x = 1\n")
    found = take([f"{tmp_path}/broker.py:absent"], {})

    with pytest.raises(SettingsError, match="there is no function absent"):
        require_functions(found)


def test_who_listens_is_reachable(closed_port, monkeypatch):
    monkeypatch.setattr(places, "getproxies", dict)
    with places.socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        assert is_reachable(f"ws://127.0.0.1:{port}/")
    assert is_reachable(f"http://127.0.0.1:{closed_port}/") is False
    monkeypatch.setattr(places, "getproxies", lambda: {"https": "http://proxy"})
    assert is_reachable(f"https://127.0.0.1:{closed_port}/") is None
