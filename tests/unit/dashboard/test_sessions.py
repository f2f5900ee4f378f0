"""Sessions end where they are kept: by signing out, with time, with a change of their user."""

from __future__ import annotations

import pytest

from worker.dashboard.people import Role, User
from worker.dashboard.sessions import MOST, NOTE_SECONDS, Sessions

HOUR = 3600.0
MARA = User("mara", Role.OPERATOR, "one")


class Clock:
    now = 1_000_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def sessions(tmp_path, clock):
    return Sessions(tmp_path / "sessions.json", 12 * HOUR, clock)


def whose(sessions, secret, stamp="one"):
    return sessions.user_name(secret, {"mara": stamp}.get)


def test_a_session_is_its_users_until_it_ends(sessions, tmp_path, clock):
    secret, other = sessions.open(MARA), sessions.open(MARA)
    assert whose(sessions, secret) == "mara"
    # Also after a restart, and for a second dashboard.
    assert whose(Sessions(tmp_path / "sessions.json", 12 * HOUR, clock), secret) == "mara"

    sessions.end(secret)

    assert whose(sessions, secret) is None
    assert whose(sessions, other) == "mara"
    assert whose(sessions, "") is None


def test_a_user_who_has_changed_or_gone_has_no_session(sessions):
    secret = sessions.open(MARA)

    assert whose(sessions, secret, stamp="another") is None
    assert sessions.user_name(secret, lambda name: None) is None


def test_a_session_lasts_as_long_as_it_is_used(sessions, clock):
    secret = sessions.open(MARA)
    for _ in range(30):
        clock.now += HOUR
        assert whose(sessions, secret) == "mara"

    clock.now += 12 * HOUR + 1

    assert whose(sessions, secret) is None


def test_its_use_is_written_down_seldom(sessions, clock, tmp_path):
    secret = sessions.open(MARA)
    path = tmp_path / "sessions.json"
    before = path.stat().st_ino, path.read_bytes()
    clock.now += NOTE_SECONDS - 1
    whose(sessions, secret)
    assert (path.stat().st_ino, path.read_bytes()) == before

    clock.now += 2
    whose(sessions, secret)

    assert path.read_bytes() != before[1]


def test_the_file_holds_no_secret_and_does_not_grow_for_ever(sessions, clock, tmp_path):
    path = tmp_path / "sessions.json"
    old = sessions.open(MARA)
    clock.now += 13 * HOUR
    secret = sessions.open(MARA)

    assert secret not in path.read_text()
    assert path.read_text().count("mara") == 1
    assert whose(sessions, old) is None
    assert path.stat().st_mode & 0o777 == 0o600


def test_the_oldest_gives_way_when_there_are_too_many(sessions, monkeypatch, clock):
    monkeypatch.setattr("worker.dashboard.sessions.MOST", 3)
    secrets = []
    for _ in range(4):
        clock.now += 1
        secrets.append(sessions.open(MARA))

    assert [whose(sessions, each) for each in secrets] == [None, "mara", "mara", "mara"]
    assert MOST >= 100
