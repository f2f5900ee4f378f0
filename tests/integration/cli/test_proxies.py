"""`launcher.py proxies …`: what is added, listed and tested, and that no login is ever shown."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import closing, suppress
from functools import partial

import pytest

from tests.conftest import reserved_port
from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of
from tests.loopback import HttpProxy, Site
from worker.proxies import choice
from worker.proxies import store as proxies

LOGIN = "nightuser:S3cretWord"


@pytest.fixture
def cli(database, settings, tmp_path):
    run = partial(run_command, tmp_path, "proxies", DATABASE_URL=url_of(settings))

    def cli(*arguments: object, **how):
        done = run(*arguments, **how)
        assert "S3cretWord" not in done.stdout + done.stderr
        assert "nightuser" not in done.stdout + done.stderr
        return done

    return cli


@pytest.fixture
def listed(cli):
    def listed() -> list[dict]:
        return json.loads(cli("list", "--json").stdout)

    return listed


@pytest.fixture
def loopback_proxy():
    with closing(Site()) as site, closing(HttpProxy("p", site.port, *LOGIN.split(":"))) as proxy:
        yield proxy


def test_a_proxy_with_a_login_is_added_from_stdin(cli, listed, database):
    done = cli("add", "fast", "--region", "de", stdin=f"http://{LOGIN}@h.example:8080\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("added fast (http://h.example:8080); ")
    (row,) = listed()
    assert (row["name"], row["proxy"], row["region"]) == ("fast", "http://h.example:8080", "de")
    assert (row["state"], row["has_login"], row["is_enabled"]) == ("ready", True, True)
    assert not {"username", "password"} & set(row)
    assert choice.look(database).proxy.url == f"http://{LOGIN}@h.example:8080"


def test_on_a_terminal_the_url_is_asked_for_and_not_shown(database, settings, tmp_path, listed):
    ours, theirs = pty.openpty()
    environment = clean_environment(tmp_path, DATABASE_URL=url_of(settings))
    command = [sys.executable, "launcher.py", "proxies", "add", "typed"]
    with subprocess.Popen(
        command, cwd=REPO, env=environment, stdin=theirs, stdout=theirs, stderr=theirs,
        start_new_session=True,
    ) as process:  # fmt: skip
        os.close(theirs)
        shown = b""
        while b"URL (not shown)" not in shown:
            shown += os.read(ours, 1000)
        os.write(ours, f"http://{LOGIN}@h.example:8080\n".encode())
        # What it says last is whole when nobody holds the terminal any more.
        with suppress(OSError):
            while more := os.read(ours, 1000):
                shown += more
    os.close(ours)

    assert process.returncode == 0
    assert b"added typed" in shown
    assert b"S3cretWord" not in shown
    assert [row["name"] for row in listed()] == ["typed"]


def test_a_url_without_login_may_be_an_argument_and_one_with_login_may_not(cli, listed):
    assert cli("add", "open", "socks5://h.example").returncode == 0
    refused = cli("add", "closed", f"http://{LOGIN}@h.example:8080")
    confused = cli("add", f"http://{LOGIN}@h.example:8080")

    assert refused.returncode == confused.returncode == 2
    assert (
        "everybody on this machine can see a login on the command line; leave the URL out"
        in refused.stderr
    )
    assert "the name looks like a URL" in confused.stderr
    assert [row["proxy"] for row in listed()] == ["socks5://h.example:1080"]


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("", "no URL on stdin"),
        (f"{LOGIN}@h.example", "the proxy is not understood"),
        (f"ftp://{LOGIN}@h.example", "a proxy's scheme is one of http, https, socks5"),
        (f"http://{LOGIN}@h.example:99999", "port is not a number from 1 to 65535"),
        (f"socks5://{LOGIN}@h.example", "Chromium cannot log in to a SOCKS5 proxy"),
    ],
)
def test_what_is_no_proxy_is_refused_in_one_line(cli, listed, url, said):
    done = cli("add", "bad", stdin=f"{url}\n")

    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert said in line
    assert listed() == []


LINES = f"""\
# from the provider
http://{LOGIN}@h.example:8080

http://{LOGIN}-2@h.example:8080
https://h.example,named,us-east
"http://nightuser:S3cretWord,x@h.example:1", quoted
"""


def test_an_import_takes_a_url_a_line_with_name_and_region(cli, listed, database):
    done = cli("import", "-", stdin="\ufeff" + LINES)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("added 4 proxies; ")
    assert {row["name"]: (row["proxy"], row["region"]) for row in listed()} == {
        "h.example:8080": ("http://h.example:8080", None),
        "h.example:8080-2": ("http://h.example:8080", None),
        "named": ("https://h.example:443", "us-east"),
        "quoted": ("http://h.example:1", None),
    }
    (quoted,) = proxies.named(database, ("quoted",))
    assert quoted.password == "S3cretWord,x"


def test_an_import_takes_csv_with_a_header_in_any_order(cli, listed, tmp_path):
    path = tmp_path / "list.csv"
    path.write_text(f"Name,Region,URL\none,de,http://{LOGIN}@h.example:1\ntwo,,http://h:2\n")

    assert cli("import", path).returncode == 0
    assert [(row["name"], row["region"]) for row in listed()] == [("one", "de"), ("two", None)]


def test_bad_lines_are_listed_without_their_content_and_nothing_is_imported(cli, listed):
    cli("add", "taken", "http://h.example")
    lines = [
        "http://good.example:1,good",
        f"http://{LOGIN}@h.example:port",
        f"{LOGIN}@h.example",
        "http://h.example:2,taken",
        "http://h.example:3,good",
        f"http://h.example:4,nightuser@h,de,{LOGIN}",
        f"http://h.example:5,{LOGIN} @",
    ]

    done = cli("import", "-", stdin="\n".join(lines))

    assert done.returncode == 2
    *told, last = done.stderr.splitlines()
    assert [line.partition(":")[0] for line in told] == [f"line {n}" for n in range(2, 8)]
    assert "port is not a number" in told[0]
    assert "the name taken is taken" in told[2]
    assert "it has 4 columns" in told[4]
    assert "6 bad lines; nothing was imported" in last
    assert [row["name"] for row in listed()] == ["taken"]


def test_a_file_that_cannot_be_read_is_told(cli, tmp_path):
    (tmp_path / "latin").write_bytes("http://ü@h".encode("latin-1"))

    assert "cannot be read: No such file" in cli("import", tmp_path / "none").stderr
    assert "is not UTF-8" in cli("import", tmp_path / "latin").stderr


def test_the_list_says_which_state_a_proxy_is_in_and_why(cli, database, listed):
    for name in ("a", "b", "c", "d", "e"):
        cli("add", name, stdin=f"http://{LOGIN}@{name}.example:80\n")
    ids = {row["name"]: row["id"] for row in proxies.all_proxies(database)}
    choice.note_unreachable(database, ids["b"], "net::ERR_PROXY_CONNECTION_FAILED", 535)
    for number in range(5):
        choice.note_block(
            database, ids["e"], 535, reason="Cloudflare challenge", site=f"shop{number}.test"
        )
    cli("disable", "c", "--reason", "not paid")
    proxies.record_trial(database, proxies.named(database, ("d",))[0], 15000, "timed out")

    head, *lines = cli("list").stdout.splitlines()

    assert head.split()[:4] == ["NAME", "PROXY", "REGION", "STATE"]
    assert [row["state"] for row in listed()] == [
        "ready", "cooling", "disabled", "failing", "cooling",
    ]  # fmt: skip
    assert "cooling 8 m " in lines[1]
    assert lines[1].endswith("net::ERR_PROXY_CONNECTION_FAILED")
    assert "disabled" in lines[2]
    assert lines[2].endswith("not paid")
    assert lines[3].endswith("timed out")
    assert "cooling at 5 sites" in lines[4]
    assert " shop0.test 8 m " in lines[4]
    assert lines[4].endswith("s: Cloudflare challenge; 2 more")
    sites = listed()[4]["cooling_sites"]
    assert [each["site"] for each in sites] == [f"shop{number}.test" for number in range(5)]
    assert 400 < sites[0]["seconds"] <= 535
    assert sites[0]["reason"] == "Cloudflare challenge"


def test_disable_enable_and_remove(cli, listed, database):
    cli("add", "a", "http://h.example")
    choice.note_block(database, proxies.all_proxies(database)[0]["id"])

    assert cli("disable", "a").returncode == 0
    assert listed()[0]["state"] == "disabled"
    assert cli("enable", "a").returncode == 0
    assert listed()[0]["state"] == "ready"
    last = cli("remove", "a")
    assert (last.returncode, len(listed())) == (2, 1)
    assert "a is the last proxy: without it, pages go out directly; nothing was" in last.stderr
    assert last.stderr.strip().endswith("launcher.py proxies remove a --then-direct")
    done = cli("remove", "a", "--then-direct")
    assert done.stdout == "removed a; there are no proxies any more: pages go out directly\n"
    assert listed() == []
    gone = cli("remove", "a")
    assert (gone.returncode, gone.stdout) == (2, "")
    assert "there is no proxy named 'a'; see: launcher.py proxies list" in gone.stderr
    assert "no proxies: jobs connect directly" in cli("list").stdout


def test_a_login_is_changed_in_place_and_the_proxy_used_at_once(cli, listed, database):
    cli("add", "a", "--region", "de", stdin=f"http://old:{LOGIN}@h.example:8080\n")
    (row,) = listed()
    choice.note_unreachable(database, row["id"], "it refuses the login")
    choice.note_block(database, row["id"], site="shop.test")

    done = cli("set", "a", stdin=f"http://{LOGIN}@h.example:8080\n")

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("a is http://h.example:8080 now; try it: launcher.py proxies test a\n")
    assert choice.look(database).proxy.url == f"http://{LOGIN}@h.example:8080"
    (now,) = listed()
    assert (now["id"], now["region"], now["failures"]) == (row["id"], "de", 0)
    assert len(now["cooling_sites"]) == 1, "the address is blocked there, whoever logs in"
    assert "there is no proxy named 'b'" in cli("set", "b", stdin="http://h.example\n").stderr
    refused = cli("set", "a", "http://a:b@h.example")
    assert refused.stderr.strip().endswith("to be asked for it: launcher.py proxies set a")


def test_a_test_goes_through_the_proxy_and_is_kept(cli, listed, loopback_proxy):
    cli("add", "good", stdin=loopback_proxy.url)
    cli("add", "wrong", stdin=loopback_proxy.url.replace("S3cretWord", "S3cretWord2"))
    with reserved_port() as dead, reserved_port() as socks:
        cli("add", "dead", stdin=f"http://{LOGIN}@127.0.0.1:{dead}")
        cli("add", "socks", f"socks5://127.0.0.1:{socks}")
        done = cli("test", "--url", "http://shop.test/", "--json")

    assert (done.returncode, done.stderr) == (0, "")
    told = {each["name"]: each for each in json.loads(done.stdout)}
    assert (told["good"]["ok"], told["good"]["status"]) == (True, 200)
    assert told["wrong"]["problem"] == "it refuses the login (HTTP 407)"
    assert "refused" in told["dead"]["problem"]
    assert "refused" in told["socks"]["problem"]
    kept = {row["name"]: row for row in listed()}
    assert kept["good"]["tested_at"]
    assert kept["good"]["test_ms"] >= 0
    assert [kept[name]["state"] for name in ("good", "wrong", "dead")] == [
        "ready", "failing", "failing",
    ]  # fmt: skip


def test_a_test_of_named_proxies_tells_each_in_a_line(cli, loopback_proxy):
    cli("add", "good", stdin=loopback_proxy.url)
    cli("add", "other", stdin=loopback_proxy.url)

    (line,) = cli("test", "good", "--url", "http://shop.test/").stdout.splitlines()

    assert line.startswith(f"good (http://127.0.0.1:{loopback_proxy.port}): ok in ")
    assert line.endswith("HTTP 200")
    assert cli("test", "none").returncode == 2
    assert cli("test", "--url", "shop.test").returncode == 2
