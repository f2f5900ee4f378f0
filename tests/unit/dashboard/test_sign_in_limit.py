"""How often signing in may fail."""

from __future__ import annotations

from worker.dashboard.sign_in_limit import MOST_KEYS, SignInLimit


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def test_after_so_many_failures_there_is_a_wait_that_ends():
    clock = Clock()
    limit = SignInLimit(3, 60.0, clock)
    for _ in range(3):
        assert limit.wait_seconds("mara") == 0
        limit.note_failure("mara")

    assert limit.wait_seconds("mara") == 60
    assert limit.wait_seconds("vic") == 0
    clock.now = 60.5
    assert limit.wait_seconds("mara") == 0


def test_a_success_takes_back_its_own_count():
    limit = SignInLimit(2, 60.0, Clock())
    for _ in range(10):
        limit.note_failure("mara")
        limit.note_success("mara")

    assert limit.wait_seconds("mara") == 0


def test_old_failures_are_forgotten():
    clock = Clock()
    limit = SignInLimit(2, 60.0, clock)
    limit.note_failure("mara")
    clock.now = 100
    limit.note_failure("vic")

    assert set(limit._failures) == {"vic"}


def test_a_flood_of_names_keeps_new_ones_out_no_longer_than_its_window():
    clock = Clock()
    limit = SignInLimit(2, 60.0, clock)
    limit.note_failure(*(f"guess-{number}" for number in range(MOST_KEYS)))

    assert limit.wait_seconds("mara") == 60
    clock.now = 60.5
    assert limit.wait_seconds("mara") == 0
