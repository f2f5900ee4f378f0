"""A profile's log-in outlives its folder: by a backup, or by cookies that go to another profile."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from tests.lifecycle.conftest import REPO, clean_environment, run_command, url_of
from worker.browser.options import find_browser
from worker.profiles import store
from worker.profiles.store import NewProfile

TASKS = Path(__file__).with_name("profile_tasks.py")
SECRET = "known-by-this-cookie"


@pytest.fixture(scope="module")
def site() -> Iterator[tuple[str, list[str]]]:
    """A site that knows its visitors by a cookie; also what it was asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            is_known = f"session={SECRET}" in (self.headers.get("Cookie") or "")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            if self.path == "/login":
                self.send_header("Set-Cookie", f"session={SECRET}; Max-Age=10000; Path=/")
            self.end_headers()
            self.wfile.write(f"<title>{'welcome back' if is_known else 'log in'}</title>".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", asked
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def cli(settings, tmp_path) -> Callable[..., subprocess.CompletedProcess[str]]:
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


@pytest.fixture
def add(database, tmp_path) -> Callable[[str], Path]:
    def add(name: str) -> Path:
        folder = tmp_path / "profiles" / name
        store.add(database, [NewProfile(name, folder=folder)], "me")
        return folder

    return add


@pytest.fixture
def do(launch, queue, database, site, tmp_path) -> Callable[..., str]:
    """Run a task in a profile, and return the title that it saw."""
    tasks = shutil.copy(TASKS, tmp_path / "tasks.py")

    def do(task: str, profile: str, url: str = site[0]) -> str:
        job = queue.enqueue(task, {"url": url})
        database.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s WHERE id = %(i)s", {"p": profile, "i": job}
        )
        assert launch("--workers", 1, "--tasks", tasks).wait(60) == 0
        row = queue.get(job)
        assert row["status"] == "done", row
        return str(json.loads(row["result"])["title"])

    return do


def ok(answer) -> str:
    assert answer.returncode == 0, answer.stderr
    return answer.stdout + answer.stderr


@pytest.mark.timeout(180)
def test_a_log_in_that_was_backed_up_is_there_again_after_the_profile_was_spoilt(
    cli, do, add, tmp_path
):
    folder, tar = add("p1"), tmp_path / "p1.tar"
    do("log_in", "p1")
    ok(cli("profiles", "backup", "p1", "-o", tar))
    shutil.rmtree(folder)
    (folder / "Default").mkdir(parents=True)
    (folder / "spoilt").touch()

    ok(cli("profiles", "restore", "p1", tar))

    assert not (folder / "spoilt").exists()
    assert do("who_am_i", "p1") == "welcome back"
    assert cli("profiles", "restore", "p1", tar).returncode == 2


@pytest.mark.timeout(180)
def test_cookies_go_from_one_profile_to_another_without_a_visit_and_without_being_shown(
    cli, do, add, site, tmp_path, database
):
    add("p1")
    add("p2")
    do("log_in", "p1")
    asked, file = list(site[1]), tmp_path / "state.json"

    told = ok(cli("profiles", "cookies", "p1", "--out", file))
    told += ok(cli("profiles", "cookies", "p2", "--in", file))

    assert file.stat().st_mode & 0o777 == 0o600
    assert [cookie["value"] for cookie in json.loads(file.read_text())["cookies"]] == [SECRET]
    assert SECRET not in told
    assert site[1] == asked
    assert {row["state"] for row in store.all_profiles(database)} == {"available"}
    assert do("who_am_i", "p2") == "welcome back"


@pytest.mark.timeout(180)
def test_cookies_are_shown_on_a_terminal_only_to_those_who_ask(cli, settings, do, add, tmp_path):
    add("p1")
    do("log_in", "p1")

    def on_terminal(*more: str) -> tuple[int, str]:
        near, far = pty.openpty()
        command = [sys.executable, "launcher.py", "profiles", "cookies", "p1", "--out", "-", *more]
        environment = clean_environment(tmp_path, DATABASE_URL=url_of(settings))
        with subprocess.Popen(command, cwd=REPO, env=environment, stdout=far, stderr=far) as run:
            os.close(far)
            text = b""
            try:
                while data := os.read(near, 65536):
                    text += data
            except OSError:
                pass
        os.close(near)
        return run.returncode, text.decode()

    code, text = on_terminal()
    assert (code, SECRET in text) == (2, False)
    assert "add --reveal" in text
    assert SECRET in on_terminal("--reveal")[1]
    assert SECRET in cli("profiles", "cookies", "p1", "--out", "-").stdout


@pytest.mark.timeout(180)
def test_a_log_in_to_the_portal_made_elsewhere_serves_a_profile(cli, do, add, demo_site, tmp_path):
    add("p1")
    file = tmp_path / "state.json"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser())
        page = browser.new_page()
        page.goto(f"{demo_site}/login")
        page.fill("input[name=username]", "demo")
        page.fill("input[name=password]", "demo")
        page.click("button[type=submit]")
        page.evaluate("localStorage.setItem('theme', 'dark')")
        signed_in = page.title()
        page.context.storage_state(path=file)
        browser.close()

    warned = ok(cli("profiles", "cookies", "p1", "--in", file))
    assert "1 cookie without an end did not outlive the browser" in warned
    ok(cli("profiles", "cookies", "p1", "--in", file, "--keep-session", "1d"))

    assert do("who_am_i", "p1", f"{demo_site}/orders") == signed_in
    answer = cli("profiles", "cookies", "p1", "--out", "-", "--origin", demo_site)
    state = json.loads(answer.stdout)
    assert state["origins"] == [
        {"origin": demo_site, "localStorage": [{"name": "theme", "value": "dark"}]}
    ]


@pytest.mark.timeout(60)
def test_cookies_that_the_browser_does_not_take_are_refused_without_being_repeated(
    cli, add, tmp_path, database
):
    add("p1")
    file = tmp_path / "state.json"
    cookie = {"name": "sid", "value": SECRET, "domain": "shop.test", "path": "/"}
    file.write_text(json.dumps({"cookies": [cookie | {"sameSite": "Maybe"}]}))

    answer = cli("profiles", "cookies", "p1", "--in", file)

    assert (answer.returncode, answer.stdout) == (2, "")
    assert "the browser takes none of the cookies" in answer.stderr
    assert SECRET not in answer.stderr
    assert store.get(database, "p1")["state"] == "available"


@pytest.mark.timeout(180)
def test_a_folder_that_has_vanished_is_not_made_anew_for_its_cookies_but_restored(
    cli, do, add, tmp_path, database
):
    folder, tar = add("p1"), tmp_path / "p1.tar"
    do("log_in", "p1")
    ok(cli("profiles", "backup", "p1", "-o", tar))
    shutil.rmtree(folder)

    answer = cli("profiles", "cookies", "p1", "--out", tmp_path / "state.json")

    assert (answer.returncode, folder.exists()) == (69, False), answer.stderr
    assert "is missing or empty" in answer.stderr
    assert store.get(database, "p1")["state"] == "review_required"
    ok(cli("profiles", "restore", "p1", tar, "--force"))
    ok(cli("profiles", "clear", "p1", "--reason", "restored"))
    assert do("who_am_i", "p1") == "welcome back"
