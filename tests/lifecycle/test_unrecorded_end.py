"""A run whose end the database did not take says so, and its exit code does too."""

from __future__ import annotations


def test_a_run_whose_end_could_not_be_recorded_is_no_success(launch, queue, tasks, database):
    job = queue.enqueue("noop", {})
    database.run_statement(
        "CREATE TRIGGER no_end BEFORE UPDATE ON runs FOR EACH ROW BEGIN IF NEW.ended_at IS NOT NULL"
        " THEN SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1290, MESSAGE_TEXT = 'read only'; END IF;"
        " END"
    )

    run = launch("--workers", 1, "--tasks", tasks, "--quiet")

    assert run.wait() == 69
    assert "the end of the run could not be recorded" in run.stderr
    assert "1 done, 0 failed" in run.stdout
    assert queue.get(job)["status"] == "done"
