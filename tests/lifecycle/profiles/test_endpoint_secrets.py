"""Of a remote browser's endpoint only scheme, host and port are to be found, wherever one looks."""

from __future__ import annotations

from tests.conftest import reserved_port
from tests.lifecycle.conftest import run_command, url_of

SECRETS = ("nightuser", "S3cretWord", "TOKENabc123", "abc987token", "devtools/browser/")
TABLES = ("work_queue", "job_attempts", "failure_groups", "events", "profile_events", "outbox")


def test_what_follows_the_host_of_an_endpoint_is_in_no_log_row_or_file(
    launch, queue, database, settings, add, enqueue, tasks, tmp_path
):
    with reserved_port() as port:
        place = f"ws://127.0.0.1:{port}"
        path = "/devtools/browser/TOKENabc123?token=abc987token"
        add("far", provider="cdp", endpoint=place.replace("//", "//nightuser:S3cretWord@") + path)
        job = enqueue("who_am_i", "far")
        database.run_statement("UPDATE work_queue SET max_attempts = 1")

        run = launch(
            "--workers", 1, "--tasks", tasks, "--log-format", "json", "--wait-retries", "1s"
        )
        run.wait(90)

    # It is not the job's fault that its browser is away.
    assert queue.get(job)["status"] == "pending", run.output
    assert f"no browser answers at {place}/…" in queue.history(job)[0]["reason"]
    commands = (
        ("show", job),
        ("show", job, "--json"),
        ("errors",),
        ("export", "--status", "error"),
    )
    told = [run_command(tmp_path, *words, DATABASE_URL=url_of(settings)) for words in commands]
    assert [done.returncode for done in told] == [0] * len(told)
    rows = [database.run_statement(f"SELECT * FROM {table}") for table in TABLES]
    texts = {
        "the log": run.output,
        **{str(done.args): done.stdout + done.stderr for done in told},
        **dict(zip(TABLES, map(repr, rows), strict=True)),
        **{
            each.name: each.read_bytes().decode(errors="replace")
            for each in tmp_path.rglob("*")
            if each.is_file()
        },
    }
    found = [(name, word) for name, text in texts.items() for word in SECRETS if word in text]
    assert found == []
