"""A file that the server has undone is added again, whole; what came by a pipe is not."""

from __future__ import annotations

import pytest

from worker.errors import Undone
from worker.intake import again


@pytest.fixture
def failing():
    """Something that the server undoes a number of times."""

    def make(times: int):
        left = iter(range(times))

        def add() -> str:
            for _ in left:
                raise Undone("deadlock")
            return "added"

        return add

    return make


def test_what_was_undone_is_added_again(failing):
    assert again.until_added(failing(2), can_repeat=True) == "added"


def test_a_pipe_is_not_read_twice_and_that_is_said_in_a_line(failing):
    with pytest.raises(Undone, match="nothing was added; standard input cannot be read a second"):
        again.until_added(failing(1), can_repeat=False)


def test_it_gives_up_in_the_end(failing, monkeypatch):
    monkeypatch.setattr(again, "MAX_PAUSE_SECONDS", 0.06)

    with pytest.raises(Undone, match="nothing was added: run it again"):
        again.until_added(failing(99), can_repeat=True)
