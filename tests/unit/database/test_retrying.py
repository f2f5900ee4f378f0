"""How long each kind of trouble is worth waiting for."""

from __future__ import annotations

import time

import pymysql
import pytest

from worker.database import retrying
from worker.database.retrying import Retries, trouble_of
from worker.database.server_errors import Trouble


def retries(patience_seconds=float("inf"), keep_waiting=lambda: True):
    return Retries(time.monotonic() + patience_seconds, keep_waiting)


def test_what_is_final_is_never_tried_again():
    assert retries().pause_after(Trouble.FINAL) is None


def test_conflicts_need_no_patience_but_end_at_last():
    hasty = retries(patience_seconds=0)
    pauses = [hasty.pause_after(Trouble.CONFLICT) for _ in range(retrying.CONFLICT_TRIES)]

    assert all(pause is not None and pause < 1 for pause in pauses)
    assert hasty.pause_after(Trouble.CONFLICT) is None


def test_after_many_conflicts_the_patient_go_on_waiting():
    patient = retries()
    for _ in range(retrying.CONFLICT_TRIES * 2):
        assert patient.pause_after(Trouble.CONFLICT) is not None


@pytest.mark.parametrize("trouble", [Trouble.AWAY, Trouble.BUSY])
def test_an_absence_is_waited_for_ever_longer_up_to_a_limit(trouble):
    patient = retries()
    pauses = [patient.pause_after(trouble) for _ in range(50)]

    assert pauses[0] < 0.1
    assert 0.5 < pauses[-1] <= retrying.MAX_PAUSE_SECONDS


@pytest.mark.parametrize("trouble", [Trouble.AWAY, Trouble.BUSY, Trouble.INTERRUPTED])
def test_without_patience_or_leave_nothing_is_waited_for(trouble):
    assert retries(patience_seconds=0).pause_after(trouble) is None
    assert retries(keep_waiting=lambda: False).pause_after(trouble) is None


def test_what_is_ended_on_the_server_is_tried_a_few_times_and_not_for_ever():
    patient = retries()
    pauses = [patient.pause_after(Trouble.INTERRUPTED) for _ in range(retrying.INTERRUPTED_TRIES)]

    assert pauses[-1] is None
    assert None not in pauses[:-1]


def test_what_took_the_server_long_rests_as_long_before_it_is_asked_again():
    assert retries().pause_after(Trouble.INTERRUPTED, took_seconds=13.0) == 13.0


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (ConnectionRefusedError(111, "Connection refused"), Trouble.AWAY),
        (pymysql.err.InterfaceError(0, ""), Trouble.AWAY),
        (pymysql.err.InternalError("Packet sequence number wrong"), Trouble.AWAY),
        (pymysql.err.OperationalError(2013, "Lost connection"), Trouble.AWAY),
        (pymysql.err.OperationalError(9999, "a number of next year's"), Trouble.AWAY),
        (pymysql.err.OperationalError(1180, 'Got error 28 "No space" during COMMIT'), Trouble.BUSY),
        (pymysql.err.ProgrammingError("nan can not be used with MySQL"), Trouble.FINAL),
        (pymysql.err.ProgrammingError(1064, "You have an error"), Trouble.FINAL),
    ],
)
def test_every_error_of_the_driver_has_its_kind(error, trouble):
    assert trouble_of(error) is trouble
