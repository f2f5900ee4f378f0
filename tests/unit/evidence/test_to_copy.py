"""What waits to be copied outlives its run, is bounded, and costs nobody a job."""

from __future__ import annotations

import stat

from worker.evidence import to_copy


def names(state_dir):
    return [item.evidence for item in to_copy.waiting(state_dir)]


def test_without_a_shared_place_nothing_is_noted(tmp_path):
    assert not to_copy.add(tmp_path, tmp_path / "errors", "1/1")
    assert to_copy.is_empty(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_what_was_noted_waits_in_its_order_until_it_is_forgotten(tmp_path):
    to_copy.switch(tmp_path, is_wanted=True)
    for number in range(3):
        assert to_copy.add(tmp_path, tmp_path / "errors", f"{number}/1")
    assert not to_copy.is_empty(tmp_path)
    assert names(tmp_path) == ["0/1", "1/1", "2/1"]

    first = next(to_copy.waiting(tmp_path))
    assert first.folder == tmp_path / "errors" / "0" / "1"
    first.forget()
    first.forget()

    assert names(tmp_path) == ["1/1", "2/1"]


def test_notes_are_private(tmp_path):
    to_copy.switch(tmp_path, is_wanted=True)

    assert stat.S_IMODE(to_copy.folder_of(tmp_path).stat().st_mode) == 0o700


def test_it_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr(to_copy, "MOST", 2)
    to_copy.switch(tmp_path, is_wanted=True)

    assert [to_copy.add(tmp_path, "/errors", f"{n}/1") for n in range(3)] == [True, True, False]


def test_a_note_that_cannot_be_read_is_passed_over_and_removed(tmp_path):
    to_copy.switch(tmp_path, is_wanted=True)
    broken = to_copy.folder_of(tmp_path) / "0.json"
    broken.write_text('{"errors_dir": 1', encoding="utf-8")
    to_copy.add(tmp_path, "/errors", "1/1")

    assert names(tmp_path) == ["1/1"]
    assert not broken.exists()


def test_a_note_that_is_being_written_is_none_yet(tmp_path):
    to_copy.switch(tmp_path, is_wanted=True)
    (to_copy.folder_of(tmp_path) / ".5-5").touch()

    assert to_copy.is_empty(tmp_path)
    assert names(tmp_path) == []


def test_a_run_without_a_shared_place_forgets_what_waited(tmp_path):
    to_copy.switch(tmp_path, is_wanted=True)
    to_copy.add(tmp_path, "/errors", "1/1")

    to_copy.switch(tmp_path, is_wanted=False)

    assert to_copy.is_empty(tmp_path)
    assert not to_copy.folder_of(tmp_path).exists()
