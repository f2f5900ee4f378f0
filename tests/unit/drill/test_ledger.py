"""A drill that cannot fail proves nothing: every kind of damage is seen, and no other."""

from __future__ import annotations

from dataclasses import replace

import pytest

from worker.drill import tasks
from worker.drill.blame import Hit
from worker.drill.ledger import Attempt, Execution, Findings, JobEnd, judge
from worker.models import Outcome, Status

ONE, TWO = (101, 5), (102, 6)


def job(status: Status = Status.DONE, fence: int = 1, task: str = tasks.QUICK) -> JobEnd:
    return JobEnd(7, task, status, fence)


def claim(fence: int, outcome: Outcome, begin: float, end: float, process=ONE) -> Attempt:
    return Attempt(7, fence, outcome, process, begin, end, reason="why")


def execution(begin: float, end: float | None, process=ONE, *, complete: bool = True) -> Execution:
    return Execution(7, process, begin, begin, end, end, complete and end is not None)


DONE = claim(1, Outcome.DONE, 10.0, 11.0)
RAN = execution(10.1, 10.9)


def test_a_job_that_was_done_once_is_clean():
    found = judge(1, [job()], [DONE], [RAN])

    assert found.is_clean
    assert (found.jobs, found.done, found.errors, found.executed_again) == (1, 1, 0, 0)


def test_a_job_that_has_vanished_from_the_queue_is_lost():
    found = judge(2, [job()], [DONE], [RAN])

    assert found.lost == ["1 jobs are not in the queue any more"]


@pytest.mark.parametrize("status", [Status.PENDING, Status.IN_PROGRESS])
def test_a_job_that_was_never_ended_is_lost(status):
    found = judge(1, [job(status)], [], [RAN])

    assert found.lost == [f"job 7 is still {status}"]
    assert not found.is_clean


def test_a_job_that_is_done_without_having_been_done_is_lost():
    found = judge(1, [job()], [DONE], [execution(10.1, None)])

    assert found.lost == ["job 7 is done, but no task had done it by then"]


def test_a_job_that_somebody_else_did_than_its_finisher_is_lost():
    found = judge(1, [job()], [DONE], [execution(10.1, 10.9, TWO)])

    assert found.lost == ["job 7 is done, but no task had done it by then"]


def test_a_job_that_was_settled_before_its_task_had_ended_is_lost():
    found = judge(1, [job()], [DONE], [execution(10.1, 11.5)])

    assert found.lost == ["job 7 is done, but no task had done it by then"]


def test_a_job_that_was_done_twice_is_finished_twice():
    claims = [DONE, claim(2, Outcome.DONE, 12.0, 13.0, TWO)]

    found = judge(1, [job(fence=2)], claims, [RAN, execution(12.1, 12.9, TWO)])

    assert found.finished_twice == ["job 7 was finished 2 times"]
    assert not found.is_clean


def test_a_job_that_went_on_after_its_finish_is_finished_twice():
    claims = [DONE, claim(2, Outcome.ERROR, 12.0, 13.0, TWO)]

    found = judge(1, [job(Status.ERROR, fence=2)], claims, [RAN])

    assert found.finished_twice == ["job 7 was finished at fence 1, but is error at fence 2"]


def test_claims_whose_times_overlap_are_overlapping():
    claims = [claim(1, Outcome.SWEPT, 10.0, 12.0), claim(2, Outcome.DONE, 11.0, 13.0, TWO)]

    found = judge(1, [job(fence=2)], claims, [execution(11.1, 12.9, TWO)])

    assert found.overlapping == ["job 7: claim 2 began before claim 1 ended"]
    assert not found.is_clean


def test_a_claim_that_never_ended_although_another_began_is_overlapping():
    found = judge(
        1,
        [job(fence=2)],
        [claim(2, Outcome.DONE, 12.0, 13.0, TWO)],
        [execution(12.1, 12.9, TWO)],
    )

    assert found.overlapping == ["job 7 was claimed 2 times, but these claims ended: [2]"]


def test_two_executions_at_once_under_claims_that_held_are_overlapping():
    claims = [claim(1, Outcome.RETRY, 10.0, 11.0), claim(2, Outcome.DONE, 12.0, 14.0, TWO)]

    found = judge(1, [job(fence=2)], claims, [execution(10.1, 13.0), execution(12.1, 13.9, TWO)])

    assert found.overlapping == [
        "job 7 was executed by 102 while 101 executed it under a claim that held"
    ]
    assert found.overlapping_executions == 0


def test_an_execution_that_no_claim_accounts_for_is_overlapping():
    found = judge(1, [job()], [DONE], [execution(10.05, 10.95, TWO), RAN])

    assert len(found.overlapping) == 1


@pytest.mark.parametrize("outcome", [Outcome.SWEPT, Outcome.TIMED_OUT, Outcome.HANDED_BACK])
def test_an_execution_beside_one_that_had_lost_its_claim_is_counted_apart(outcome):
    claims = [claim(1, outcome, 10.0, 12.0), claim(2, Outcome.DONE, 12.0, 14.0, TWO)]

    found = judge(1, [job(fence=2)], claims, [execution(10.1, 13.0), execution(12.1, 13.9, TWO)])

    assert found.is_clean
    assert (found.overlapping_executions, found.executed_again) == (1, 1)


CRASHES = [
    replace(claim(1, Outcome.CRASHED, 10.0, 11.0), reason="its worker died"),
    replace(claim(2, Outcome.CRASHED, 20.0, 21.0, TWO), reason="killed its worker 2 times"),
]
HITS = [Hit(ONE[0], 10.5, 10.5), Hit(TWO[0], 20.5, 20.5)]


def crashed(hits: list[Hit], claims: list[Attempt] = CRASHES) -> Findings:
    return judge(1, [job(Status.ERROR, fence=2)], claims, [], hits)


def test_an_error_that_its_task_wanted_is_clean():
    failed = replace(DONE, outcome=Outcome.ERROR)

    found = judge(1, [job(Status.ERROR, task=tasks.FAILING)], [failed], [])

    assert found.is_clean
    assert (found.errors, found.errors_wanted, found.errors_poison) == (1, 1, 0)


def test_an_error_that_its_task_did_not_want_is_a_good_job_in_error():
    found = judge(1, [job(Status.ERROR)], [replace(DONE, outcome=Outcome.ERROR)], [])

    assert found.good_in_error == ["job 7 (drill_quick): why"]
    assert found.errors == 1
    assert not found.is_clean


def test_a_job_that_was_ended_without_an_attempt_is_a_good_job_in_error():
    found = judge(1, [job(Status.ERROR, fence=0)], [], [])

    assert found.good_in_error == ["job 7 (drill_quick): no attempt is noted"]


def test_a_job_under_which_the_drill_hit_two_workers_may_end_as_poison():
    found = crashed(HITS)

    assert found.is_clean
    assert (found.errors, found.errors_poison) == (1, 1)


def test_a_job_whose_one_worker_lost_its_browser_twice_may_end_as_poison():
    claims = [CRASHES[0], replace(CRASHES[1], process=ONE)]

    found = crashed([HITS[0], Hit(ONE[0], 20.5, 20.5)], claims)

    assert found.errors_poison == 1


@pytest.mark.parametrize(
    ("hits", "struck"),
    [
        ([], 0),
        (HITS[:1], 1),
        # Twice, but under one and the same claim.
        ([HITS[0], HITS[0]], 1),
        # A worker of another job.
        ([HITS[0], Hit(999, 20.5, 20.5)], 1),
        # The right worker, long before it had this job, and when it had it no more.
        ([HITS[0], Hit(TWO[0], 12.0, 12.0)], 1),
        ([HITS[0], Hit(TWO[0], 21.5, 21.5)], 1),
    ],
)
def test_poison_that_the_drill_has_not_made_is_a_good_job_in_error(hits, struck):
    found = crashed(hits)

    assert found.good_in_error == [
        f"job 7 (drill_quick): killed its worker 2 times (the drill hit {struck} of 2)"
    ]
    assert found.errors_poison == 0
    assert not found.is_clean


def test_a_browser_that_was_hit_just_before_a_claim_counts_as_hit_under_it():
    found = crashed([HITS[0], Hit(TWO[0], 19.0, 19.0)])

    assert found.errors_poison == 1


def test_a_hit_lasts_as_long_as_its_fault():
    found = crashed([HITS[0], Hit(TWO[0], 5.0, 18.0)])

    assert found.errors_poison == 1
