"""A night is told as it was, every job in exactly one figure."""

from __future__ import annotations

import json
from datetime import UTC, timedelta

import pytest

from tests.integration.reporting.night.conftest import shown
from worker.history import archive, dead_letters
from worker.reporting.night import failures, figures_table, formats, window
from worker.reporting.night.gather import gather
from worker.reporting.night.model import Level
from worker.system.identity import boot_id, machine_id, pid_namespace


def test_every_job_is_in_exactly_one_figure(night, invented):
    counts = night.counts

    assert (counts.done, counts.failed) == (invented.done, invented.failed)
    assert counts.jobs_in == counts.done + counts.failed + counts.left
    assert sum(hour.done for hour in night.hours) == counts.done
    assert sum(hour.failed for hour in night.hours) == counts.failed
    assert sum(group.jobs for group in night.groups) + night.other_failures == counts.failed
    lanes = [(column.done, column.failed) for lane in night.lanes for column in lane.columns]
    assert sum(done for done, _ in lanes) == counts.done
    assert sum(failed for _, failed in lanes) == counts.failed


def test_a_done_job_that_was_put_back_is_pending_and_no_longer_done(database, invented, errors_dir):
    repeated = database.run_statement("SELECT MAX(id) AS id FROM work_queue WHERE status = 'done'")
    dead_letters.repeat_done(database, [repeated[0]["id"]], archive.now(database))

    # The night goes on: what is pending counts.
    night = gather(database, window.since(database, "13h", UTC), errors_dir)

    assert (night.counts.done, night.counts.pending) == (invented.done - 1, 1)
    assert night.counts.jobs_in == invented.done + invented.failed


def test_discarded_and_archived_jobs_stay_in_the_sum(database, invented, told):
    scope = dead_letters.Scope(until=archive.now(database), group="5c20aa9100000000")
    dead_letters.discard(database, scope, archive.Label("me", "discarded by me"))

    night = told()

    assert (night.counts.discarded, night.counts.failed) == (9, invented.failed - 9)
    assert night.counts.jobs_in == invented.done + invented.failed
    everything = archive.Finished(before=archive.now(database))
    for _ in archive.run(database, everything, archive.Label("me", "old")):
        pass
    night = told()
    assert (night.counts.done, night.counts.discarded) == (invented.done, 9)
    assert night.other_failures == invented.failed - 9


def test_groups_have_picture_command_and_are_new_only_if_first_seen_this_night(night):
    by_name = {group.name[:8]: group for group in night.groups}

    assert [group.jobs for group in night.groups] == [60, 30, 9]
    assert [key for key, group in by_name.items() if group.is_new] == ["3f9a1c2e"]
    assert by_name["3f9a1c2e"].command == ("launcher.py retry --group 3f9a1c2e00000000 --limit 10")
    assert by_name["3f9a1c2e"].picture.startswith(b"\x89PNG")
    assert by_name["3f9a1c2e"].sites == ("shop.example.com",)
    # Its breaker has closed since: a retry of all of it is likely to help.
    assert by_name["b81e07d4"].command == "launcher.py retry --group b81e07d400000000"
    assert "answers again" in by_name["b81e07d4"].hint


def test_a_group_says_what_changed_since_its_task_last_went_well(told, errors_dir):
    one, two, _ = sorted(errors_dir.rglob("screenshot.png"))
    change = {"selector": ".price\x1b[2J", "then": 1, "now": 0, "nearest": ".product-price"}
    good = {"job_id": 3310, "at": "2020-02-01T01:12:03Z", "comparison": change}
    (one.parent / "error.json").write_text(json.dumps({"last_good": good}))
    (one.parent / "good.jpg").write_bytes(b"\xff\xd8\xff then")
    (two.parent / "error.json").write_text('{"last_good": {"job_id": "x"}}')
    (two.parent / "good.jpg").write_bytes(b"<svg onload=alert(1)>")
    groups = [group for group in told().groups if group.last_good]

    assert len(groups) == 1
    # A night that is not this one is named by its day.
    assert groups[0].last_good.startswith("Last good at Sat 01 Feb ")
    said = " (job 3310). `.price?[2J` matched 1 element at Sat 01 Feb "
    assert said in groups[0].last_good
    assert groups[0].last_good.endswith(", 0 now; nearest now: `.product-price`.")
    assert groups[0].good_picture == b"\xff\xd8\xff then"
    assert [group.good_picture for group in told().groups].count(None) == 2


def test_a_huge_picture_and_one_that_is_no_picture_are_left_out(told, errors_dir):
    one, two, _ = sorted(errors_dir.rglob("screenshot.png"))
    one.write_bytes(b"\x89PNG\r\n\x1a\n" + b"x" * 3_000_000)
    two.write_bytes(b"<svg onload=alert(1)>")

    assert sum(group.picture is not None for group in told().groups) == 1


def test_a_muted_group_is_counted_and_not_shown(database, told, invented):
    dead_letters.mute(database, "3f9a1c2e00000000", by="me", reason="known")

    text = formats.WRITERS["text"](told())

    assert "60 in muted groups" in text
    assert "3f9a1c2e" not in text
    assert f"FAILED: {invented.failed}" in text


def test_the_night_is_held_against_the_seven_before(night, invented):
    assert night.usual.nights == 7
    assert night.usual.median.done == 400
    assert night.measures.recovered == invented.recovered
    assert shown(night, "Failed").is_worse
    assert not shown(night, "p50, p95").is_worse
    assert shown(night, "Outages").this == "1, 44 s"
    assert night.measures.restarts == 2
    assert shown(night, "Jobs in").usual == shown(night, "Done").usual == "400"
    assert shown(night, "Still pending, in progress").usual == "0"


def test_the_hour_in_which_a_run_ended_says_how(database, invented, told):
    end = window.of_run(database, invented.run_id, UTC).end
    assert told().hours[-1].notes[-1] == f"drained at {end:%H:%M}"

    # No process of this machine has that number and start: it was killed.
    database.run_statement(
        "UPDATE runs SET ended_at = NULL, summary = NULL, machine_id = %(machine)s, "
        "boot_id = %(boot)s, pid_namespace = %(namespace)s, pid = 4194301 WHERE id = %(run)s",
        {"machine": machine_id(), "boot": boot_id(), "namespace": pid_namespace()}
        | {"run": invented.run_id},
    )
    killed = told()
    assert killed.hours[-1].notes[-1] == f"killed at {end:%H:%M}"
    assert f"run {invented.run_id} on " in killed.verdict.sentence
    assert killed.verdict.sentence.endswith(
        f"was killed at {end:%H:%M}; how many jobs were left then is not known."
    )
    assert shown(killed, "Still pending, in progress").this == "not known"
    assert shown(killed, "Jobs in").this == "not known"
    assert shown(killed, "Ready at").this == "–"
    assert figures_table.sum_of(killed.counts).endswith("; how many were left is not known")
    assert "were there at" not in figures_table.change(killed)


def test_restarts_say_why_and_what_held_it_up_is_in_words(night):
    texts = [each.text for each in night.interruptions]

    assert texts == [
        "paused by mara",
        "worker 3 restarted: memory 1.5 GB",
        "database away, as night-1 saw it",
        "worker 3 restarted: memory 1.5 GB",
        "breaker of portal.example.org open",
    ]
    assert [lane.restarts for lane in night.lanes] == [0, 0, 0, 2, 0, 0]


def test_the_slowest_job_of_a_task_is_found(night, database):
    slowest = {each.task: each for each in night.slowest}
    rows = database.run_statement(
        "SELECT id FROM work_queue WHERE TIMESTAMPDIFF(SECOND, started_at, finished_at) = 333"
    )

    assert slowest["price"].slowest_job == rows[0]["id"]
    assert slowest["price"].slowest_seconds == pytest.approx(333)


def test_empty_results_of_a_task_that_had_full_ones_are_doubted(night):
    (doubt,) = night.doubts

    assert (doubt.task, doubt.kind, doubt.usual_share) == ("extract", "empty", 0)
    assert 105 <= doubt.count <= 115
    assert doubt.command.startswith("launcher.py export --task extract --since 20")


def test_a_task_whose_results_were_always_empty_is_not_doubted(database, told):
    database.run_statement("UPDATE work_queue SET result = NULL WHERE task = 'extract'")

    assert told().doubts == ()


def test_shrunken_results_are_doubted_too(database, invented, told):
    database.run_statement(
        "UPDATE work_queue SET result = '{\"t\": 1}' WHERE task = 'visit' AND finished_at > %(at)s",
        {"at": invented.end - timedelta(hours=1)},
    )

    assert {(doubt.task, doubt.kind) for doubt in told().doubts} == {
        ("extract", "empty"),
        ("visit", "shrunken"),
    }


def test_what_waits_for_a_person_comes_first(database, told):
    database.run_statement(
        "INSERT INTO profiles (id, state, state_reason, state_since, created_at) VALUES "
        "('acme-07', 'review_required', 'password', UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))"
    )
    night = told()

    assert night.duties[0].what == "Profile acme-07"
    assert [item.name for item in night.house] == ["Profiles", "Disk"]


def test_jobs_that_are_left_with_nobody_at_work_are_worth_getting_up(
    database, invented, errors_dir
):
    database.run_statement("INSERT INTO work_queue (payload) VALUES ('{}')")
    night = gather(database, window.since(database, "13h", UTC), errors_dir)

    assert night.verdict.level is Level.GET_UP
    assert night.verdict.sentence == (
        "Get up: 1 job is left, and no run is at work. Start one: launcher.py run"
    )
    assert night.counts.jobs_in == invented.done + invented.failed + 1


def test_json_has_a_version_and_the_same_sums(night, invented):
    told = json.loads(formats.WRITERS["json"](night))

    assert told["version"] == 1
    assert told["run"] == invented.run_id
    assert told["jobs"]["in"] == told["jobs"]["done"] + told["jobs"]["failed"]
    assert told["verdict"]["level"] == "sleep"
    assert told["since"].endswith("Z")
    assert [group["is_new"] for group in told["groups"]] == [True, False, False]


def test_a_database_without_any_night_is_told_so(database, errors_dir):
    night = gather(database, window.last_night(database, UTC), errors_dir)

    assert night.verdict.sentence == "Nothing was to be done."
    for write in formats.WRITERS.values():
        assert write(night)


def test_what_an_earlier_run_of_the_same_night_found_is_still_new(database, invented, told):
    evening = window.of_run(database, invented.run_id, UTC).new_since
    for key, seconds in (("b81e07d4", 0), ("5c20aa91", -1)):
        database.run_statement(
            "UPDATE failure_groups SET first_seen = %(at)s WHERE fingerprint LIKE %(key)s",
            {"at": evening + timedelta(seconds=seconds), "key": f"{key}%"},
        )

    new = {group.name[:8] for group in told().groups if group.is_new}

    assert new == {"3f9a1c2e", "b81e07d4"}
    assert timedelta() <= invented.start - evening < timedelta(days=1)


def test_all_groups_are_counted_though_the_largest_alone_are_listed(
    database, invented, told, monkeypatch
):
    monkeypatch.setattr(failures, "MOST_GROUPS", 2)
    dead_letters.mute(database, "3f9a1c2e00000000", by="me", reason="known")

    night = told()

    # The muted one is the largest, and comes last all the same.
    assert [group.name[:8] for group in night.groups] == ["b81e07d4", "5c20aa91"]
    totals = night.group_totals
    assert (totals.groups, totals.jobs, totals.muted) == (3, invented.failed, 1)
    assert totals.jobs_muted == 60
    assert "99 failed in 3 groups." in night.verdict.why
    assert night.unlisted == 0


def test_a_group_is_retried_by_its_whole_name(night):
    names = {group.name for group in night.groups}

    assert len(names) == 3
    for group in night.groups:
        assert f"--group {group.name}" in group.command
