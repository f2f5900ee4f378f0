"""What runs with real profiles need: a site that knows its visitors, tasks, profiles and jobs."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from worker.profiles import store
from worker.profiles.store import NewProfile

TASKS = Path(__file__).parents[1] / "profile_tasks.py"


@pytest.fixture(scope="module")
def site() -> Iterator[str]:
    """A site that knows its visitors by a cookie, and says in the title whether it does."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            is_known = "session=known" in (self.headers.get("Cookie") or "")
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            if self.path == "/login":
                self.send_header("Set-Cookie", "session=known; Max-Age=10000; Path=/")
            self.end_headers()
            self.wfile.write(f"<title>{'welcome back' if is_known else 'log in'}</title>".encode())

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return Path(shutil.copy(TASKS, tmp_path / "tasks.py"))


@pytest.fixture
def add(database, tmp_path) -> Callable[..., Path]:
    def add(name: str, **fields: object) -> Path:
        folder = tmp_path / "profiles" / name
        kind = {"folder": folder} | fields if "provider" not in fields else fields
        store.add(database, [NewProfile(name, **kind)], "me")  # type: ignore[arg-type]
        return folder

    return add


@pytest.fixture
def enqueue(queue, database, site) -> Callable[..., int]:
    def enqueue(task: str, profile: str | None, **payload: object) -> int:
        job_id = queue.enqueue(task, {"url": site, **payload})
        database.run_statement(
            "UPDATE work_queue SET profile_id = %(p)s WHERE id = %(i)s", {"p": profile, "i": job_id}
        )
        return int(job_id)

    return enqueue
