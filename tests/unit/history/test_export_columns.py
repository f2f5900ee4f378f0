"""The columns of an exported CSV file, and what stands in a job's cells."""

from __future__ import annotations

import pytest

from worker.history import export_columns
from worker.history.export_columns import JOB_COLUMNS, LateKeys


def job(result, *, status="done", payload=None, **more):
    return {
        **dict.fromkeys(JOB_COLUMNS),
        "id": 7,
        "status": status,
        "payload": payload or {},
        "result": result,
        "reason": None,
        **more,
    }


def test_there_is_a_column_for_every_key_of_the_results_in_their_order():
    jobs = [job({"price": 1, "url": "u"}), job(None), job({"stock": 2, "price": 3}), job([1])]

    assert export_columns.learn(jobs, ("done",)) == ["price", "stock", "result"]
    assert export_columns.learn(jobs, ("done", "error"))[0] == "reason"


def test_a_named_column_is_looked_for_in_result_payload_and_job():
    found = job({"price": 1}, payload={"price": 2, "sku": 3, "url": "u"}, priority=4)
    columns = export_columns.named(" price, sku,,priority ,absent")

    assert export_columns.header(columns) == [
        *JOB_COLUMNS,
        "url",
        "price",
        "sku",
        "priority",
        "absent",
    ]
    assert export_columns.values(found, columns)[len(JOB_COLUMNS) :] == ["u", 1, 3, 4, ""]


def test_a_failed_job_has_its_reason_and_is_left_as_it_was():
    failed = job({"price": 1}, status="error", reason="sold out")

    assert export_columns.values(failed, ["reason"])[-1] == "sold out"
    assert failed["result"] == {"price": 1}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_defused_unless_raw(text):
    assert export_columns.cell(text, is_raw=False) == f"'{text}"
    assert export_columns.cell(text, is_raw=True) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), ({"a": ["ü"]}, '{"a": ["ü"]}'), (True, "true"), (-1, -1)]
)
def test_other_values_are_written_as_they_are_or_as_json(value, text):
    assert export_columns.cell(value, is_raw=False) == text


def test_a_key_without_a_column_is_told_once():
    told = []
    jobs = [job({"price": 1, "url": "u"}), job({"stock": 1}), job({"stock": 2})]

    assert list(LateKeys(["price"], told.append).watch(jobs)) == jobs
    (line,) = told
    assert line.startswith("job 7 has stock, which the CSV header lacks")


def test_what_jobs_used_has_columns_only_where_there_is_something_and_no_result_hides_it():
    plain = job({"price": 1})
    routed = job({"price": 2, "used_proxy": "mine"}, used_proxy="berlin", used_account="ada")

    assert export_columns.learn([plain], ("done",)) == ["price"]
    columns = export_columns.learn([plain, routed], ("done",))
    assert columns == ["used_account", "used_proxy", "price"]
    assert export_columns.values(routed, columns)[-3:] == ["ada", "berlin", 2]


def test_a_proxy_that_was_used_after_the_header_was_written_is_reported():
    told = []
    late = LateKeys(["price"], told.append)

    assert len(list(late.watch([job({"price": 1}), job({"price": 1}, used_proxy="berlin")]))) == 2
    assert len(told) == 1
    assert "has used_proxy, which the CSV header lacks" in told[0]
