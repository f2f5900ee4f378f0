"""Whatever a job does with its secrets, they are in no table, evidence, trace, log or screen.

Shows invariant 12. One run of the real launcher does all the jobs; each case then looks everywhere
for its own secret, known by a core of letters that survives every way of spelling it.
"""

from __future__ import annotations

import base64
import json
import stat
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pymysql
import pytest
from click.testing import CliRunner

from tests.attacks import haystack, leaky_site
from tests.lifecycle.conftest import Launcher, clean_environment, url_of
from worker.cli.main import cli
from worker.database import migrations
from worker.database.client import Database
from worker.database_settings import DatabaseSettings
from worker.intake.bulk import add_many

TASKS = Path(__file__).with_name("leaky_tasks.py")
AWKWARD = 'p&"<ö>\\ {core} 7!/%'
KEY = "-----BEGIN KEY-----\n{core}line1\n{core}line2\n-----END KEY-----\n"
PARAMETERS = ("key", "auth", "sid", "jwt", "otp", "code", "session", "PHPSESSID", "credential")


@dataclass(frozen=True)
class Case:
    """One attack: a task, and what its payload holds. `{core}` and `{site}` are filled in."""

    name: str
    task: str
    payload: dict[str, Any] = field(default_factory=dict)
    secret: str = AWKWARD

    @property
    def core(self) -> str:
        return "Core" + self.name.replace("-", "").replace(" ", "")


OF_PAYLOAD = [
    "raises", "raises_a_chain", "fails_with_a_label", "retries", "prints", "prints_letters", "logs",
    "names_steps", "fills_what_is_missing", "shows_it", "posts_it", "alerts", "asks_in_vain",
    "dies", "hangs",
]  # fmt: skip
OF_PLACE = [
    "types",
    "types_everywhere",
    "fills_what_is_disabled",
    "sends_headers",
    "complains_in_json",
]
CASES = [
    *(Case(task, task) for task in OF_PAYLOAD),
    *(Case(f"{task} unknown", task) for task in OF_PLACE),
    *(Case(f"as {name}", "opens", {"url": f"{{site}}/?x&{name}={{core}}"}) for name in PARAMETERS),
    Case("login in a URL", "opens", {"url": "http://me:{core}@{host}/"}),
    Case("encoded login", "opens", {"url": "{site}/?to=http%3A%2F%2Fme%3A{core}%40h.test%2F"}),
    Case("nested parameter", "opens", {"url": "{site}/?to=%2Fa%3Ftoken%3D{core}%26b%3D1"}),
    Case("the sites own", "opens", {"url": "{site}/of/{eroc}"}),
    Case("a number", "raises", secret="731{number}"),
    Case("a key of lines", "prints", secret=KEY),
    Case("deep", "raises", {"login": {"credentials": ["{core}"]}, "password": "{core}"}),
    Case("literal step", "steps", {"steps": [
        {"goto": "{site}/"}, {"fill": {"#password": "{core}"}}, {"expect": "#absent"}]}),
    Case("named step", "steps", {"steps": [
        {"goto": "{site}/"}, {"fill": {"#card": {"secret": "ENV_CORE"}}}, {"click": "button"},
        {"extract": {"said": "h1"}}]}),
    Case("named from a file", "reads_a_secret", {"url": "{site}/", "name": "FILE_CORE"}),
    Case("named among many", "reads_a_secret", {
        "url": "{site}/", "name": "FILE_CORE", "passwords": [f"{n:040}" for n in range(400)]}),
    Case("named as a key", "returns_a_secret", {"url": "{site}/", "name": "KEY_CORE"}),
    Case("JSON in a URL", "opens", {"url": "{site}/?d=%7B%22password%22%3A%22{core}%22%7D"}),
    Case("a pair", "repeats_a_header", {"headers": [{"name": "Cookie", "value": "a={core}-1"}]}),
    Case("named and returned", "returns_a_secret", {"url": "{site}/", "name": "ENV_CORE"}),
]  # fmt: skip
REFUSED = ["../FILE_CORE", "a/b", "a.b", ".", "", "DATABASE_URL", "NIGHTSHIFT_WEBHOOK_SECRET",
           "AWS_SECRET_ACCESS_KEY", "ABSENT"]  # fmt: skip


@dataclass
class Aftermath:
    """A run that is over: its jobs by the name of their case, and everything it has written."""

    jobs: dict[str, dict[str, Any]]
    written: list[tuple[str, bytes]]
    folder: Path
    environment: dict[str, str]

    def shown(self, *arguments: str) -> tuple[str, bytes]:
        done = CliRunner().invoke(cli, arguments, env=self.environment, standalone_mode=False)
        assert done.exception is None, done.output
        return " ".join(arguments), done.output.encode()


def payload_of(case: Case, site: str) -> dict[str, Any]:
    secret = case.secret.replace("{core}", case.core).replace("{number}", str(len(case.name)) * 3)
    text = json.dumps({"url": "{site}/", **case.payload})
    filled_in = {"core": case.core, "eroc": case.core[::-1], "site": site, "host": site[7:]}
    for name, value in filled_in.items():
        text = text.replace("{" + name + "}", value)
    payload = json.loads(text)
    if case.task == "steps":
        return {"steps": payload["steps"]}
    return {"password": secret, "seed": case.core[::-1], **payload}


@pytest.fixture(scope="module")
def aftermath(server, tmp_path_factory) -> Iterator[Aftermath]:
    """Let one run do all the jobs, and gather what it has left."""
    folder = tmp_path_factory.mktemp("secrets")
    settings = DatabaseSettings(database="attacked", unix_socket=server.unixsocket)
    with closing(pymysql.connect(unix_socket=server.unixsocket, user="root")) as connection:
        connection.cursor().execute("CREATE DATABASE attacked")
    (folder / "secrets").mkdir()
    (folder / "secrets" / "FILE_CORE").write_text("Corenamedfromafile &x\n")
    environment = clean_environment(
        folder,
        DATABASE_URL=url_of(settings),
        ENV_CORE="Corenamed & pure",
        KEY_CORE="Corenamed_key",
        NIGHTSHIFT_SECRETS_DIR=str(folder / "secrets"),
        NIGHTSHIFT_WEBHOOK_SECRET="Corewebhook",
        AWS_SECRET_ACCESS_KEY="Coreofcloud",
    )
    with leaky_site.serve() as site, closing(Database(settings)) as db:
        migrations.migrate(db)
        for case in CASES:
            add_many(db, case.task, [payload_of(case, site)])
        for name in REFUSED:
            add_many(db, "reads_a_secret", [{"url": site, "name": name}])
        yield run_all(db, folder, environment)
        db.run_statement("DROP DATABASE attacked")


def run_all(db: Database, folder: Path, environment: dict[str, str]) -> Aftermath:
    flags = ("--tasks", str(TASKS), "--trace", "always", "--max-attempts", "1")
    flags += ("--hang-grace", "1s", "--results-dir", str(folder / "results"))
    run = Launcher(["--workers", "2", *flags], folder, environment)
    try:
        assert run.wait(180) == 0, run.output
    finally:
        run.end()
    names = [case.name for case in CASES] + REFUSED
    rows = db.run_statement("SELECT * FROM work_queue ORDER BY id")
    written = [*haystack.of_files(folder), *haystack.of_database(db)]
    written = [(place, text) for place, text in written if not place.startswith("secrets/")]
    return Aftermath(dict(zip(names, rows, strict=True)), written, folder, environment)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_secret_is_nowhere_but_in_its_payload(aftermath, case):
    job = str(aftermath.jobs[case.name]["id"])
    screens = [aftermath.shown("show", job), aftermath.shown("show", job, "--json")]
    everything = [*aftermath.written, *screens, aftermath.shown("why", job)]
    core = case.core
    if case.secret.startswith("731"):
        core = payload_of(case, "")["password"]
    if "named" in case.name:
        core = "Corenamed"

    assert haystack.places_of(core, everything) == []
    encoded = base64.b64encode(f"me:{core}".encode()).decode()
    assert haystack.places_of(encoded[:-4], everything) == []


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_rest_of_the_evidence_is_there(aftermath, case):
    """A redactor that dropped everything would pass the test above."""
    job = aftermath.jobs[case.name]
    if case.name in ("named step", "named and returned", "named as a key"):
        assert job["status"] == "done"
        assert "[redacted]" in job["result"]
        return
    folder = aftermath.folder / "errors" / str(job["id"]) / "1"
    told = json.loads((folder / "error.json").read_text(encoding="utf-8"))
    assert job["status"] == "error"
    assert told["job_id"] == job["id"]
    if case.task not in ("dies", "hangs"):
        assert (folder / "page.html").stat().st_size > 0
        assert (folder / "trace.zip").stat().st_size > 0


@pytest.mark.parametrize("name", REFUSED)
def test_a_secret_that_may_not_be_read_is_refused_with_a_reason(aftermath, name):
    job = aftermath.jobs[name]

    assert job["status"] == "error"
    wanted = {"ABSENT": "put it into the file"}.get(name)
    if wanted is None:
        wanted = "no job may read it" if "_" in name and "/" not in name else "cannot be named"
    assert wanted in job["last_error"]
    assert haystack.places_of("Corewebhook", aftermath.written) == []
    assert haystack.places_of("Coreofcloud", aftermath.written) == []


def test_nothing_that_was_written_can_be_read_by_others(aftermath):
    ours = {"state", "errors", "results"}
    found = [
        path
        for path in aftermath.folder.rglob("*")
        if path.relative_to(aftermath.folder).parts[0] in ours
        and not path.is_symlink()
        and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO)
    ]

    assert found == []
    assert len(list((aftermath.folder / "errors").rglob("*.zip"))) > 10
