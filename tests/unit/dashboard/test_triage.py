"""What is said of all groups together: only what is proved of each."""

from __future__ import annotations

from worker.dashboard.failed_groups import Group
from worker.dashboard.group_hints import Hint, Outlook
from worker.dashboard.triage import triage
from worker.reporting.charts.marks import Mark


def told(jobs, outlook=None, half_done=0):
    group = Group({"fingerprint": "3f9a", "jobs": jobs, "half_done": half_done, "muted_at": None})
    hint = None if outlook is None else Hint(Mark.LOOK, "", "", outlook, "")
    return group, hint


def test_one_group_that_a_retry_helps_is_the_headline():
    found = triage([told(214, Outlook.FAILS), told(96, Outlook.HELPS), told(31, Outlook.PERSON)])

    assert found.headline == "One is worth a retry now."
    assert found.say == (
        "96 can be retried: the site answers again. 214 need a change of the task first: the "
        "page has changed. 31 need a person."
    )


def test_several_are_counted_and_a_single_one_is_it():
    assert triage([told(1, Outlook.HELPS), told(2, Outlook.HELPS)]).headline == (
        "2 are worth a retry now."
    )
    assert triage([told(1, Outlook.HELPS)]).headline == "It is worth a retry now."


def test_nothing_is_promised_of_groups_of_which_nothing_is_proved():
    found = triage([told(7), told(1, Outlook.WAITS)])

    assert found.headline == ""
    assert found.say == (
        "1 waits for a site that is left alone for now. Of 7 nothing is proved; a few sent "
        "ahead tell."
    )


def test_where_all_is_proved_and_nothing_helps_it_says_so():
    assert triage([told(7, Outlook.FAILS)]).headline == "No retry is likely to help yet."
    assert triage([]).headline == ""


def test_jobs_that_may_be_half_done_need_a_person_whatever_the_others_need():
    found = triage([told(10, Outlook.HELPS, half_done=3)])

    assert found.say == "7 can be retried: the site answers again. 3 need a person."
