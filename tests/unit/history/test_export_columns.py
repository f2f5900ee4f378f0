"""The columns of an exported CSV file, and what stands in a job's cells."""

from __future__ import annotations

import pytest

from worker.errors import UsageError
from worker.history import export_columns
from worker.history.export_columns import JOB_COLUMNS, Columns, LateKeys


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


def value_of(job, name):
    return export_columns.reader(name)(job)


def learnt(jobs, statuses=("done",), *, by_rows=False):
    """The columns of an export beside those that every one has."""
    names = Columns.of(statuses, by_rows=by_rows).learn(jobs).names
    assert names[: len(JOB_COLUMNS) + 1] == [*JOB_COLUMNS, "url"]
    return names[len(JOB_COLUMNS) + 1 :]


def test_there_is_a_column_for_every_key_of_the_results_in_their_order():
    jobs = [job({"price": 1}), job(None), job({"stock": 2, "price": 3}), job([1])]

    assert learnt(jobs) == ["price", "stock", "result"]
    assert learnt(jobs, ("done", "error"))[0] == "reason"
    assert learnt(jobs, by_rows=True)[0] == "row"


def test_a_key_that_is_called_as_a_column_of_the_job_gets_a_prefix():
    found = job({"status": 200, "id": "a7", "title": "T"})

    assert learnt([found]) == ["result.status", "result.id", "title"]
    assert value_of(found, "status") == "done"
    assert value_of(found, "result.status") == 200
    assert value_of(found, "job.status") == "done"


def test_a_url_of_the_result_has_a_column_only_where_it_differs_from_the_jobs():
    same = job({"url": "u"}, payload={"url": "u"})
    moved = job({"url": "v"}, payload={"url": "u"})

    assert learnt([same]) == []
    assert learnt([same, moved]) == ["result.url"]
    assert value_of(moved, "url") == "u"
    assert value_of(moved, "result.url") == "v"


def test_a_named_column_is_looked_for_in_job_result_and_payload():
    found = job({"price": 1, "task": 5}, payload={"price": 2, "sku": 3, "url": "u"})
    names = export_columns.named(" price, sku,,price ,id,payload.price,payload.url,absent, task")

    assert names == ["price", "sku", "id", "payload.price", "payload.url", "absent", "task"]
    assert [value_of(found, name) for name in names] == [1, 3, 7, 2, "u", None, None]


def test_a_key_with_a_dot_of_its_own_is_found():
    assert value_of(job({"result.x": 1, "a.b": 2}), "result.x") == 1
    assert value_of(job({"result.x": 1, "a.b": 2}), "a.b") == 2


def test_a_name_that_no_job_has_is_refused_with_the_nearest():
    jobs = [job({"title": "T"}), job({"price": 1}, payload={"sku": 3})]

    export_columns.check(["price", "payload.sku", "url", "job.id", "reason"], jobs)
    with pytest.raises(UsageError, match=r"no job has prise; did you mean price\?"):
        export_columns.check(["id", "prise"], jobs)
    with pytest.raises(UsageError, match=r"no job has payload\.sk; did you mean payload\.sku\?"):
        export_columns.check(["payload.sk"], jobs)
    with pytest.raises(UsageError, match="no job has xyzzy; there are url, result, id"):
        export_columns.check(["xyzzy"], jobs)
    with pytest.raises(UsageError, match="no job has row"):
        export_columns.check(["row"], jobs)
    export_columns.check(["whatever"], [])


def test_no_columns_at_all_are_refused():
    with pytest.raises(UsageError, match="--columns names no column"):
        export_columns.named(" , ")


def test_a_failed_job_has_its_reason_and_is_left_as_it_was():
    failed = job({"price": 1}, status="error", reason="sold out")

    assert value_of(failed, "reason") == "sold out"
    assert failed["result"] == {"price": 1}
    assert value_of(job({"reason": "own"}), "reason") == "own"


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@a", "\t=1", "\r=1"])
def test_a_cell_that_a_spreadsheet_would_run_is_defused_unless_raw(text):
    assert export_columns.cell(text, is_raw=False) == f"'{text}"
    assert export_columns.cell(text, is_raw=True) == text


@pytest.mark.parametrize(
    ("value", "text"), [(None, ""), ({"a": ["ü"]}, '{"a": ["ü"]}'), (True, "true"), (-1, -1)]
)
def test_other_values_are_written_as_they_are_or_as_json(value, text):
    assert export_columns.cell(value, is_raw=False) == text


def test_a_key_of_a_result_is_not_taken_for_what_a_job_used():
    routed = job({"price": 1}, used_proxy="berlin")

    assert learnt([routed, job({"used_proxy": "mine"})])[-1] == "result.used_proxy"


def test_a_url_that_was_the_jobs_own_at_first_has_a_column_when_one_differs_later():
    same = job({"url": "u", "price": 1}, payload={"url": "u"})
    told = []
    columns = Columns.of(("done",), by_rows=False).learn([same, same])

    moved = job({"url": "v", "price": 1}, payload={"url": "u"})
    assert list(LateKeys(columns, told.append).watch([same, moved])) == [same, moved]
    assert [line.split(",")[0] for line in told] == ["job 7 has result.url"]


def test_a_key_without_a_column_is_told_once():
    told = []
    jobs = [job({"price": 1}), job({"stock": 1, "status": 2}), job({"stock": 2})]
    columns = Columns.of(("done",), by_rows=False).learn(jobs[:1])

    assert list(LateKeys(columns, told.append).watch(jobs)) == jobs
    (line,) = told
    assert line.startswith("job 7 has result.status, stock, which the CSV header lacks")


def test_what_jobs_used_has_columns_only_where_there_is_something_and_no_result_hides_it():
    plain = job({"price": 1})
    routed = job({"price": 2, "used_proxy": "mine"}, used_proxy="berlin", used_account="ada")

    assert learnt([plain]) == ["price"]
    columns = learnt([plain, routed])
    assert columns == ["used_account", "used_proxy", "price", "result.used_proxy"]
    assert [value_of(routed, name) for name in columns] == ["ada", "berlin", 2, "mine"]


def test_a_proxy_that_was_used_after_the_header_was_written_is_reported():
    told = []
    late = LateKeys(Columns.of(("done",), by_rows=False).learn([job({"price": 1})]), told.append)

    assert len(list(late.watch([job({"price": 1}), job({"price": 1}, used_proxy="berlin")]))) == 2
    assert len(told) == 1
    assert "has used_proxy, which the CSV header lacks" in told[0]
