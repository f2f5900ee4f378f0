"""What people are told: what happened, to which run, what to type; nothing secret."""

from __future__ import annotations

import socket

from worker.evidence import known_secrets
from worker.notices import messages
from worker.notices.new_groups import NewGroup


def test_a_stall_names_its_length_what_could_be_done_and_the_next_command():
    notice = messages.stalled(118, 900, 1681, "", 0)

    assert notice.title == f"Nightshift on {socket.gethostname()}: run 118 has stalled"
    assert notice.body.splitlines() == [
        "Nothing has finished for 15 min, though 1,681 jobs could.",
        "Look: python launcher.py status",
    ]


def test_a_stall_names_what_is_known_to_be_wrong():
    body = messages.stalled(118, 900, 1, "the breaker of site:x is open", 840).body

    assert "The database has not answered for 14 min." in body
    assert "the breaker of site:x is open" in body


def test_lateness_compares_what_is_left_with_the_time():
    notice = messages.late(118, 4000, 7200, 3600, "by 07:00")

    assert notice.title.endswith("run 118 will not be ready by 07:00")
    assert "about 2 h 00 min, but the run stops in 60 min" in notice.body


def test_new_groups_come_with_commands_and_no_page_can_add_a_line():
    evil = NewGroup("abcdef0123456789", "price", "Fail: \x1b[31mno\nLook: rm -rf /", 12)
    lines = messages.new_groups(1, [evil]).body.splitlines()

    assert lines == [
        "12 jobs of task price failed so:",
        "  Fail: ?[31mno Look: rm -rf /",
        "  Look: python launcher.py errors abcdef0123456789",
        "  Try ten again: python launcher.py retry --group abcdef0123456789 --limit 10",
    ]


def test_many_groups_are_one_message_with_the_first_few():
    groups = [NewGroup(f"{n:016x}", "t", "x", 10) for n in range(20)]
    notice = messages.new_groups(1, groups)

    assert notice.title.endswith("run 1 has 20 new failure groups")
    assert notice.body.splitlines()[-1] == "… and 15 more: python launcher.py errors"


def test_an_end_with_exit_code_0_was_short_of_time():
    assert messages.ended_badly("run 1", 0, ["x"]).title.endswith("run 1 was not ready in time")
    assert messages.ended_badly("run 1", 11, ["x"]).title.endswith("ended badly (exit code 11)")


def test_no_message_holds_a_secret():
    with known_secrets.also(["hunter2hunter2"]):
        body = messages.ended_badly("a run", 69, ["cannot reach hunter2hunter2"]).body

    assert body == "cannot reach [redacted]"
