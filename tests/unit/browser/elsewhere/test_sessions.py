"""Sessions are ended by a call where a service needs one, also those that dead workers left."""

from __future__ import annotations

import os
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from worker.browser.elsewhere import sessions
from worker.browser.elsewhere.config import take
from worker.browser.elsewhere.places import place_of
from worker.browser.elsewhere.sessions import Notes

# Later Pythons warn of forks beside threads, which other tests may have left running.
pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")


class _Service(BaseHTTPRequestHandler):
    """Knows one session, and writes down what it is asked."""

    def do_GET(self):
        self.server.asked.append((self.command, self.path, self.headers["X-Key"]))
        body = b'{"data": [{"id": "s-77", "live": "https://app.test/s-77"}]}'
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_POST = do_DELETE = do_GET  # noqa: N815 - the names that the server looks for.

    def log_message(self, *_):
        pass


@pytest.fixture
def service():
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Service)
    server.asked, server.status = [], 200
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def settings(service):
    return take(
        ["ws://h/"],
        {
            "NIGHTSHIFT_BROWSER_HEADERS": '{"X-Key": "k3y-k3y"}',
            "NIGHTSHIFT_BROWSER_STATUS_URL": f"{service.url}/sessions",
            "NIGHTSHIFT_BROWSER_SESSION_FIELD": "data.0.id",
            "NIGHTSHIFT_BROWSER_LIVE_FIELD": "data.0.live",
            "NIGHTSHIFT_BROWSER_CLOSE_URL": f"POST {service.url}/sessions/{{session}}/release",
        },
    )


def test_a_service_is_asked_for_its_session_and_where_to_watch_it(service, settings):
    place = sessions.described(place_of(settings.endpoints[0], settings, 0), settings)

    assert (place.session, place.live_url) == ("s-77", "https://app.test/s-77")
    assert service.asked == [("GET", "/sessions", "k3y-k3y")]


def test_a_service_that_does_not_answer_costs_nothing_but_the_knowledge(service, settings):
    service.status = 500
    place = sessions.described(place_of(settings.endpoints[0], settings, 0), settings)

    assert (place.session, place.live_url) == (None, None)


def test_the_session_of_a_dead_worker_is_ended_by_who_comes_next(service, settings, tmp_path):
    if (pid := os.fork()) == 0:
        Notes(settings, tmp_path).keep(0, "a/b")
        os._exit(0)
    os.waitpid(pid, 0)
    notes = Notes(settings, tmp_path)
    own = notes.keep(0, "mine")

    assert notes.close_left() == 1

    assert service.asked == [("POST", "/sessions/a%2Fb/release", "k3y-k3y")]
    assert list((tmp_path / sessions.FOLDER).iterdir()) == [own]
    assert "k3y" not in own.read_text()


def test_a_session_that_cannot_be_ended_now_is_tried_again_later(
    service, settings, tmp_path, monkeypatch
):
    notes = Notes(settings, tmp_path)
    service.status = 503
    note = notes.keep(0, "s-1")
    notes.drop(note, is_closed=sessions.close(settings, 0, "s-1"))
    assert notes.close_left() == 0, "not at once"

    service.status = 404
    monkeypatch.setattr(sessions, "PAUSE_SECONDS", 0.0)

    assert notes.close_left() == 1
    assert list((tmp_path / sessions.FOLDER).iterdir()) == []


def test_a_function_may_end_its_sessions_itself(tmp_path):
    file = tmp_path / "broker.py"
    file.write_text("ended = []\ndef endpoint(slot): ...\nendpoint.close = ended.append\n")
    found = take([f"{file}:endpoint"], {})

    assert sessions.is_to_be_closed(found, 0)
    assert sessions.close(found, 0, "s-9")
    function = sessions.find_function(found.endpoints[0])
    assert function.__globals__["ended"] == ["s-9"]
