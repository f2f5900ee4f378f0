"""A run whose jobs wish for different contexts, and runs that cannot have the browser they want."""

from __future__ import annotations

import json
import shutil
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.lifecycle.conftest import run_command, url_of
from tests.lifecycle.pool import incarnations
from worker.models import Status
from worker.proxies import store as proxies
from worker.proxies.proxy import Proxy

TASKS = Path(__file__).with_name("wishing_tasks.py")
TOKEN = "swordfish-and-chips-4711"
PICTURE = b'<svg xmlns="http://www.w3.org/2000/svg" width="7" height="7"/>'


@pytest.fixture
def site():
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_picture = self.path == "/a.svg"
            said = self.headers.get("X-Shop", "")
            body = PICTURE if is_picture else f"<img src=/a.svg><p id=said>{said}".encode()
            self.send_response(200)
            self.send_header("Content-Type", "image/svg+xml" if is_picture else "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return Path(shutil.copy(TASKS, tmp_path / "tasks.py"))


@pytest.mark.timeout(180)
def test_each_job_gets_the_context_that_run_task_and_job_wish_for(
    launch, queue, database, site, tasks, errors_dir, tmp_path
):
    own = {"context": {"locale": "fr-FR", "timezone_id": "Asia/Tokyo"}, "block": ["image"]}
    wrong = {"context": {"viewprt": 1}}
    plain = [queue.enqueue("plain", {"url": site}) for _ in range(3)]
    phone = [queue.enqueue("phone", {"url": site}) for _ in range(3)]
    of_its_own = queue.enqueue("plain", {"url": site, "manifest": own})
    refused = queue.enqueue("plain", {"url": site, "manifest": wrong})
    secret = queue.enqueue("sending", {"url": site})
    plain.append(queue.enqueue("plain", {"url": site}))

    run = launch(
        *("--workers", 1, "--tasks", tasks, "--trace", "always"),
        NIGHTSHIFT_BROWSER_CONTEXT='{"timezone_id": "Europe/Berlin"}',
        SHOP_TOKEN=TOKEN,
    )
    assert run.wait(120) == 0, run.output

    def result(job: int) -> dict[str, object]:
        return json.loads(str(queue.get(job)["result"]))

    desktop = {"language": "en-US", "zone": "Europe/Berlin", "agent": "desktop", "pictures": 7}
    iphone = {"language": "de-DE", "zone": "Europe/Berlin", "agent": "iPhone", "pictures": 0}
    assert [result(job) for job in plain] == [desktop] * 4
    assert [result(job) for job in phone] == [iphone] * 3
    assert result(of_its_own) == {
        "language": "fr-FR", "zone": "Asia/Tokyo", "agent": "desktop", "pictures": 0,
    }  # fmt: skip
    assert queue.get(refused)["status"] == Status.ERROR
    assert "unknown option viewprt; did you mean viewport?" in queue.get(refused)["last_error"]
    # None of it cost a worker or its browser.
    assert incarnations(database) == 1
    assert "the site said [redacted]" in queue.get(secret)["last_error"]
    kept = [path.read_bytes() for path in errors_dir.rglob("*") if path.is_file()]
    assert kept
    assert not [text for text in [*kept, run.output.encode()] if TOKEN.encode() in text]


@pytest.fixture
def cli(settings, tmp_path):
    return partial(run_command, tmp_path, DATABASE_URL=url_of(settings))


def test_a_wrong_wish_is_refused_before_it_is_a_job(cli, queue, tmp_path):
    lines = [{"url": "https://x.example", "manifest": {"context": {"device": "iPhone15"}}}]
    (tmp_path / "jobs.jsonl").write_text("".join(map(json.dumps, lines)))
    done = cli("enqueue", tmp_path / "jobs.jsonl")

    assert done.returncode == 2
    assert "did you mean iPhone 15?" in done.stderr
    assert sum(queue.counts().values()) == 0


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (["--browser-type", "firefox"], "no Firefox of Playwright's found"),
        (["--browser-channel", "msedge-dev"], "no msedge-dev at /opt/microsoft/msedge-dev/msedge"),
        (["--headed"], "there is no display to open a window on"),
    ],
)
def test_a_run_without_the_browser_that_it_wants_is_one_line(cli, tmp_path, flags, told):
    nowhere = {
        "PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "none"),
        "DISPLAY": None,
        "WAYLAND_DISPLAY": None,
    }
    done = cli("run", *flags, **nowhere)

    assert done.returncode == 69
    assert done.stderr.startswith(f"nightshift: {told}")
    assert len(done.stderr.splitlines()) == 1


def test_a_browser_that_cannot_be_kept_behind_proxies_is_not_used_there(cli, database, tmp_path):
    folder = tmp_path / "browsers" / "firefox-1500"
    folder.mkdir(parents=True)
    (folder / "INSTALLATION_COMPLETE").touch()
    proxies.add(database, Proxy("http", "127.0.0.1", 9, name="berlin"))
    done = cli(
        *("run", "--browser-type", "firefox"), PLAYWRIGHT_BROWSERS_PATH=str(tmp_path / "browsers")
    )

    assert done.returncode == 78
    assert "--browser-type firefox: there are proxies" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_the_doctor_shows_the_browser_that_will_be_used(cli):
    done = cli("doctor", "--browser-context", '{"locale": "de-DE"}')
    (line,) = [each for each in done.stdout.splitlines() if " browser: " in each]

    assert line.startswith("ok   browser: Chromium ")
    assert "opens a page (Nightshift)" in line
    (line,) = [
        each
        for each in cli("doctor", "--browser-channel", "msedge-dev").stdout.splitlines()
        if " browser: " in each
    ]
    assert line.startswith("FAIL browser: no msedge-dev at ")
