"""`nightshift.toml`: what may stand in it, what it yields to, and how a wrong value is told."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from worker.errors import SettingsError
from worker.project_file import SECRETS, _keys, load_settings, read
from worker.settings import flag_fields, flag_name


@pytest.fixture
def toml(tmp_path):
    def write(text: str):
        path = tmp_path / "nightshift.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def loaded(tmp_path, **environ: str) -> dict[str, str]:
    known = {"NIGHTSHIFT_PROJECT": str(tmp_path), **environ}
    load_settings(known)
    return {name: value for name, value in known.items() if name != "NIGHTSHIFT_PROJECT"}


def test_every_kind_of_setting_can_be_written(toml, tmp_path):
    path = toml(
        """
        [run]
        workers = 3
        job-timeout = "10m"
        lease = 90
        follow = true
        no-help = false
        if_locked = "wait"
        errors-dir = "evidence"
        [tasks]
        modules = ["shop.py", "own_package", "deeper/tasks"]
        [database]
        host = "db.example.com"
        port = 3307
        """
    )

    assert read(path) == {
        "NIGHTSHIFT_WORKERS": "3",
        "NIGHTSHIFT_JOB_TIMEOUT": "10m",
        "NIGHTSHIFT_LEASE": "90",
        "NIGHTSHIFT_FOLLOW": "true",
        "NIGHTSHIFT_NO_HELP": "false",
        "NIGHTSHIFT_IF_LOCKED": "wait",
        "NIGHTSHIFT_ERRORS_DIR": str(tmp_path / "evidence"),
        "NIGHTSHIFT_TASKS": f"{tmp_path}/shop.py own_package {tmp_path}/deeper/tasks",
        "MYSQL_HOST": "db.example.com",
        "MYSQL_PORT": "3307",
    }


def test_what_has_no_key_under_run_is_named_where_the_others_are_promised(toml):
    root = Path(__file__).parents[2]
    flags = {flag_name(each).lstrip("-") for each in flag_fields()}
    without = flags - (_keys("run").keys() - {key for table, key in SECRETS if table == "run"})

    assert without == {"tasks", "ping-url", "notify", "browser-endpoint"}
    for name in ("docs/install.md", "worker/cli/templates/project/nightshift.toml"):
        text = (root / name).read_text(encoding="utf-8")
        assert all(key in text for key in without)


def test_the_number_of_workers_can_be_left_to_the_run(toml):
    assert read(toml('[run]\nworkers = "auto:8"')) == {"NIGHTSHIFT_WORKERS": "auto:8"}


def test_a_path_with_a_space_stays_one_source(toml, tmp_path):
    (tmp_path / "my tasks").mkdir()
    path = toml('[tasks]\nmodules = "my tasks"\n')

    assert read(path)["NIGHTSHIFT_TASKS"] == f"'{tmp_path}/my tasks'"


def test_the_environment_wins_over_dotenv_and_that_over_toml(toml, tmp_path):
    toml('[run]\nworkers = 1\nlease = "1m"\ngrace = "1s"\n')
    (tmp_path / ".env").write_text("NIGHTSHIFT_WORKERS=2\nNIGHTSHIFT_LEASE=2m\n")

    assert loaded(tmp_path, NIGHTSHIFT_WORKERS="3") == {
        "NIGHTSHIFT_WORKERS": "3",
        "NIGHTSHIFT_LEASE": "2m",
        "NIGHTSHIFT_GRACE": "1s",
    }


def test_a_project_without_the_file_has_the_defaults(tmp_path):
    assert loaded(tmp_path) == {}


def test_a_database_that_the_environment_names_is_taken_whole(toml, tmp_path):
    toml('[database]\nsocket = "/run/mysqld.sock"\nname = "jobs"\n')

    assert loaded(tmp_path, DATABASE_URL="mysql://a/b") == {"DATABASE_URL": "mysql://a/b"}
    assert loaded(tmp_path, MYSQL_HOST="a") == {"MYSQL_HOST": "a", "MYSQL_DATABASE": "jobs"}
    assert loaded(tmp_path, MYSQL_PASSWORD="owl")["MYSQL_SOCKET"] == "/run/mysqld.sock"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[run]\nwokers = 2", r"\[run\]: unknown key wokers; did you mean workers\?"),
        ("[rnu]\nworkers = 2", r"unknown table \[rnu\]; did you mean run\?"),
        ("workers = 2", r"unknown table \[workers\]"),
        ("run = 2", "run stands in no table"),
        (
            '[run]\nworkers = "six"',
            r"\[run\] workers: 'six' is no number of workers; write 6, auto",
        ),
        ('[run]\nworkers = "auto:0"', r"\[run\] workers: workers 0 is too small; give 1 or more"),
        ("[run]\nworkers = 0", r"\[run\] workers: workers 0 is too small; give 1 or more"),
        ("[run]\nworkers = 100000", r"\[run\] workers: .* is too large; give 1000 or less"),
        ("[run]\nworkers = true", r"\[run\] workers: expected a whole number"),
        ('[run]\nfollow = "yes"', r"\[run\] follow: expected true or false"),
        ('[run]\nlease = "soon"', r"\[run\] lease: 'soon' is not a duration; write 600, 90s"),
        ('[run]\nif-locked = "cry"', r"\[run\] if-locked: use one of skip, wait, fail, ignore"),
        ("[run]\nerrors-dir = 1", r"\[run\] errors-dir: expected a path in quotes"),
        ("[tasks]\nmodules = [1]", r"\[tasks\] modules: expected a list"),
        ("[run\n", "nightshift.toml: "),
    ],
)
def test_a_wrong_value_is_told_with_file_table_and_key(toml, text, told):
    path = toml(text)
    with pytest.raises(SettingsError, match=told) as caught:
        read(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        '[database]\npassword = "hunter2"',
        '[database]\nurl = "mysql://owl:hunter2@db/night"',
        '[run]\nping-url = "https://hc.example/hunter2"',
        '[run]\ncallback-url = "https://owl:hunter2@hooks.example/"',
    ],
)
def test_a_password_is_refused_and_not_repeated(toml, text):
    with pytest.raises(SettingsError, match=r"no password belongs into this file.*\.env") as caught:
        read(toml(text))
    assert "hunter2" not in str(caught.value)


def test_options_of_contexts_have_a_table_of_their_own(toml, tmp_path):
    path = toml(
        """
        [run]
        block = ["image", "*.ads.example"]
        browser-args = ["--lang=de", "--with a=space"]
        browser-type = "firefox"
        slow-mo = "250ms"
        [browser.context]
        locale = "de-DE"
        timezone-id = "Europe/Berlin"
        viewport = {width = 1280, height = 800}
        storage_state = "state.json"
        """
    )
    found = read(path)

    assert json.loads(found.pop("NIGHTSHIFT_BROWSER_CONTEXT")) == {
        "locale": "de-DE",
        "timezone_id": "Europe/Berlin",
        "viewport": {"width": 1280, "height": 800},
        "storage_state": str(tmp_path / "state.json"),
    }
    assert found == {
        "NIGHTSHIFT_BLOCK": "image '*.ads.example'",
        "NIGHTSHIFT_BROWSER_ARGS": "--lang=de '--with a=space'",
        "NIGHTSHIFT_BROWSER_TYPE": "firefox",
        "NIGHTSHIFT_SLOW_MO": "250ms",
    }


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[browser.context]\nviewprt = 5", r"[browser.context]: unknown option viewprt; did you"),
        ("[browser.context]\nlocale = 5", r"[browser.context]: locale: expected a locale"),
        ("[browser]\ncontext = 5", r"[browser.context]: give options by name"),
        ("[browser]\ntype = 'firefox'", r"[browser]: unknown key type; known is the table"),
        ("browser = 5", r"[browser]: unknown key browser"),
        ("[browser.context.extra_http_headers]\nCookie = 'hunter2'", "no secret belongs here"),
        ("[run]\nblock = 'image'", '[run] block: expected a list such as ["image"]'),
        ("[run]\nblock = ['imge']", "[run] block: 'imge' is neither a host"),
        ("[run]\nbrowser-args = ['--proxy-server=hunter2']", "[run] browser-args: --proxy-server"),
    ],
)
def test_a_wrong_wish_is_told_with_its_place(toml, text, told):
    path = toml(text)
    with pytest.raises(SettingsError) as caught:
        read(path)

    assert str(caught.value).startswith(f"{path} [")
    assert told in str(caught.value)
    assert "hunter2" not in str(caught.value)
