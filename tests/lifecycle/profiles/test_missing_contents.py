"""A profile that has lost its folder or its cookies is never silently made anew."""

from __future__ import annotations

import shutil

import pytest

from tests.lifecycle.conftest import run_command, url_of
from tests.lifecycle.profiles.endings import events, title
from worker.profiles import store

pytestmark = pytest.mark.timeout(150)


@pytest.mark.parametrize("what", ["folder", "cookies"])
def test_what_is_missing_is_told_and_made_anew_only_on_purpose(
    launch, settings, database, queue, add, enqueue, tasks, tmp_path, what
):
    folder = add("p1")
    first = enqueue("log_in", "p1")
    run = ("--workers", 1, "--tasks", tasks)
    assert launch(*run).wait(60) == 0
    assert title(queue, first) == "log in"
    assert store.get(database, "p1")["contents"] == "cookies"
    if what == "folder":
        shutil.rmtree(folder)
    else:
        for path in folder.glob("Default/**/Cookies*"):
            path.unlink()

    job = enqueue("who_am_i", "p1")
    held_back = launch(*run)

    assert held_back.wait(60) == 11
    profile = store.get(database, "p1")
    missing = "is missing or empty" if what == "folder" else "has lost its cookies"
    assert (profile["state"], profile["contents"]) == ("review_required", "missing")
    assert missing in profile["state_reason"]
    assert folder.exists() == (what != "folder")
    assert events(database, "p1")[-1] == "review_wanted"
    assert missing in store.history(database, "p1", 1)[0]["reason"]
    left = queue.get(job)
    assert (left["status"], left["attempts"]) == ("pending", 0)
    assert missing in held_back.output

    url = url_of(settings)
    said = run_command(tmp_path, "profiles", "clear", "p1", "--reason", "anew", DATABASE_URL=url)
    assert said.returncode == 0, said.stderr
    assert launch(*run).wait(60) == 0
    # Nobody is logged in there, and a person has wanted it so.
    assert title(queue, job) == "log in"
    assert store.get(database, "p1")["state"] == "available"


def test_a_profile_that_was_never_opened_is_made(launch, database, queue, add, enqueue, tasks):
    folder = add("p1")
    assert not folder.exists()
    job = enqueue("who_am_i", "p1")

    assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0

    assert title(queue, job) == "log in"
    assert (store.get(database, "p1")["contents"], folder.is_dir()) == ("folder", True)


def test_a_folder_that_has_become_a_link_to_anothers_is_not_opened(
    launch, settings, database, queue, add, enqueue, tasks, tmp_path
):
    folder, victim = add("p1"), add("p2")
    enqueue("log_in", "p2")
    run = ("--workers", 1, "--tasks", tasks)
    assert launch(*run).wait(60) == 0
    folder.symlink_to(victim)

    job = enqueue("who_am_i", "p1")
    held_back = launch(*run)

    assert held_back.wait(60) == 11
    profile = store.get(database, "p1")
    assert profile["state"] == "review_required"
    assert "is a link to" in profile["state_reason"]
    assert events(database, "p1")[-1] == "review_wanted"
    left = queue.get(job)
    assert (left["status"], left["attempts"]) == ("pending", 0)
    doctor = run_command(tmp_path, "doctor", DATABASE_URL=url_of(settings))
    assert "profile p1" in doctor.stdout + doctor.stderr
    assert "is a link to" in doctor.stdout + doctor.stderr
