"""A private file: whole, read anew, and changed by one at a time."""

from __future__ import annotations

import threading

import pytest

from worker.dashboard.private_json import PrivateJson


@pytest.fixture
def path(tmp_path):
    return tmp_path / "state" / "some.json"


def test_what_one_writes_the_other_reads_at_once(path):
    one, other = PrivateJson(path, {"n": 0}), PrivateJson(path, {"n": 0})
    assert other.read() == {"n": 0}

    for number in (1, 2, 3):
        with one.changed() as known:
            known["n"] = number
        assert other.read() == {"n": number}

    assert path.stat().st_mode & 0o777 == 0o600


def test_no_change_is_lost_when_many_change_it(path):
    def add() -> None:
        file = PrivateJson(path, {"n": 0})
        for _ in range(20):
            with file.changed() as known:
                known["n"] += 1

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert PrivateJson(path, {"n": 0}).read() == {"n": 80}


def test_what_breaks_off_changes_nothing(path):
    file = PrivateJson(path, {"n": 0})

    def break_off() -> None:
        with file.changed() as known:
            known["n"] = 1
            raise ValueError("half way")

    with pytest.raises(ValueError, match="half way"):
        break_off()

    assert file.read() == {"n": 0}
    with file.changed() as known:
        known["n"] = 2
    assert file.read() == {"n": 2}
