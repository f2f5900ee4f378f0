"""The login of a proxy is in no output, argument, file or table."""

from __future__ import annotations

import base64
import json
import zipfile
from contextlib import suppress
from pathlib import Path

from tests.lifecycle.conftest import run_command, url_of, wait_until
from tests.lifecycle.proxies.conftest import QUICK, SHOP, USER, WORD, outcomes
from worker.models import Outcome
from worker.proxies import store as proxies

SECRETS = (USER, WORD, base64.b64encode(f"{USER}:{WORD}".encode()).decode())


def test_evidence_names_the_proxy_and_no_login_is_to_be_found_anywhere(
    launch, queue, database, settings, site, via, looking, tmp_path
):
    via("first")
    via("second")
    site.refused_proxies = {"first"}
    job = queue.enqueue("look", {"url": SHOP, "selector": "#none"}, max_attempts=2)

    run = launch("--workers", 1, *QUICK, looking)
    arguments = set()

    def note_arguments() -> bool:
        for name in ("cmdline", "environ"):
            for path in Path("/proc").glob(f"[0-9]*/{name}"):
                # A process may end between the listing and the reading.
                with suppress(OSError):
                    arguments.add(path.read_text(errors="replace"))
        return not run.is_running

    wait_until(note_arguments, "the run ends", 60, every=0.2)
    assert run.wait() == 0

    # A block, then two tries through the other proxy, the second with a trace.
    assert outcomes(queue, job) == [Outcome.BLOCKED, Outcome.RETRY, Outcome.RETRY]
    folders = sorted((tmp_path / "errors" / str(job)).iterdir())
    labels = [json.loads((each / "error.json").read_text())["proxy"] for each in folders]
    ports = {row["name"]: row["port"] for row in proxies.all_proxies(database)}
    names = ("first", "second", "second")
    assert labels == [f"http://127.0.0.1:{ports[name]}" for name in names]
    assert any((each / "trace.zip").exists() for each in folders)
    run_cli = [
        run_command(tmp_path, *words, DATABASE_URL=url_of(settings))
        for words in (("show", job), ("show", job, "--json"), ("proxies", "list", "--json"))
    ]
    texts = [run.output, *arguments, *(done.stdout + done.stderr for done in run_cli)]
    assert all(done.returncode == 0 for done in run_cli)
    assert [secret for secret in SECRETS if any(secret in text for text in texts)] == []
    assert found_in_files(tmp_path) == []
    rows = database.run_statement("SELECT * FROM work_queue") + queue.history(job)
    assert [secret for secret in SECRETS if secret in repr(rows)] == []


def found_in_files(folder) -> list[tuple[str, str]]:
    """Look for a login in every file, and inside every archive."""
    found = []
    for path in [each for each in folder.rglob("*") if each.is_file()]:
        contents = [path.read_bytes()]
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                contents += [archive.read(name) for name in archive.namelist()]
        found += [
            (path.name, secret)
            for secret in SECRETS
            if any(secret.encode() in content for content in contents)
        ]
    return found
