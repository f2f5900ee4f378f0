"""A record becomes a job by mapping, template and key, or a problem of its line."""

from __future__ import annotations

import io
import json

import pytest

from worker.intake.dedupe_keys import fitting
from worker.intake.jobs import MAX_DEPTH, JobMaker, Problem
from worker.intake.lines import Lines
from worker.intake.records import read


def jobs(data, kind="csv", **how):
    return list(JobMaker(**how).make(read(Lines(io.BytesIO(data)), kind)))


def test_a_mapping_picks_and_renames_columns():
    (job,) = jobs(b"Link,Nr,x\nhttp://a,7,y\n", columns={"url": "Link", "sku": "Nr"})
    assert json.loads(job[0]) == {"url": "http://a", "sku": "7"}


def test_an_unknown_column_in_a_mapping_or_a_template_is_named():
    (problem,) = jobs(b"a,b\n1,2\n", columns={"url": "Link"})
    assert problem == Problem(2, 'there is no column "Link"; there are a, b')
    (problem,) = jobs(b"a,b\n1,2\n", dedupe="shop-{sku}")
    assert problem == Problem(2, 'there is no column "sku"; there are a, b')


def test_a_dedupe_key_is_filled_from_columns_and_fields():
    (job,) = jobs(b"Nr\n7\n", columns={"sku": "Nr"}, dedupe="{Nr}/{sku}/{{x}}")
    assert job[1] == "7/7/{x}"


def test_a_long_dedupe_key_is_kept_with_a_hash_at_its_end():
    (job,) = jobs(b"a\n" + b"x" * 192 + b"\n", dedupe="{a}")
    assert job[1] == fitting("x" * 192)


def test_what_cannot_be_stored_is_a_problem_of_its_line():
    found = jobs(b'{"a": NaN}\n{"a": "\\ud800"}\n{"a": 1}\n', "jsonl")
    assert [type(item) for item in found] == [Problem, Problem, tuple]


def test_nesting_deeper_than_a_server_stores_is_a_problem():
    def nested(depth):
        return ('{"a": ' + "[" * (depth - 1) + "]" * (depth - 1) + "}\n").encode()

    assert isinstance(jobs(nested(MAX_DEPTH), "jsonl")[0], tuple)
    assert jobs(nested(MAX_DEPTH + 1), "jsonl") == [Problem(1, "nested too deeply")]
    assert isinstance(jobs(b'{"a": "' + b"[" * 99 + b'"}', "jsonl")[0], tuple)


def peeked(data, **how):
    maker = JobMaker(**how)
    return list(maker.make(maker.peek(read(Lines(io.BytesIO(data)), "jsonl"))))


def test_a_line_names_its_profile_account_and_order_key_beside_its_payload():
    line = b'{"a": 1, "profile_id": "p1", "account_id": 7, "order_key": "k"}\n'
    assert peeked(line) == [('{"a": 1}', None, "p1", "7", "k")]
    assert peeked(line, dedupe="{profile_id}-{a}")[0][1] == "p1-1"
    # A template for all lines has its place, and then the value is the payload's.
    text, _, profile, account, key = peeked(line, profile="all")[0]
    assert (profile, account, key) == ("all", "7", "k")
    assert json.loads(text) == {"a": 1, "profile_id": "p1"}


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (b'{"a": 1}\n{"profile_id": "p1"}\n', "has profile_id, but the first line has none;"),
        (b'{"account_id": true}\n', "account_id: must be text"),
        (b'{"profile_id": "' + b"x" * 65 + b'"}\n', "profile_id: longer than 64 characters"),
    ],
)
def test_an_owner_that_cannot_be_kept_is_a_problem_of_its_line(lines, problem):
    assert peeked(lines)[-1].text.startswith(problem)
