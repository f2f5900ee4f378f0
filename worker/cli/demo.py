"""`launcher.py demo`, run by `make run`: a first look at Nightshift in under a minute.

It starts the bundled demo site on loopback, queues its pages (good, slow, failing, hanging,
blocked) in the private database, and drains them with two workers.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager

import click

from worker.cli.connection import begin_database
from worker.cli.output import tell, tell_text
from worker.cli.run import run
from worker.errors import NightshiftError
from worker.installation import command_line, command_name, own_files
from worker.intake.bulk import add_many
from worker.system.fork import call_in_child

# Small limits, so that pages which never answer do not slow the demo down.
DEMO_FLAGS = (
    "--workers=2",
    "--max-attempts=2",
    "--job-timeout=8s",
    "--page-timeout=3s",
    "--retry-delay=1s",
)


@click.command("demo")
def demo() -> int:
    """Visit the pages of a bundled demo site: a first look, in under a minute."""
    with _demo_site() as base_url:
        first, last = call_in_child(_enqueue, base_url)
        tell(f"demo site at {base_url}; its pages are jobs {first} to {last}", err=True)
        code = run.main(DEMO_FLAGS, prog_name=f"{command_name()} run", standalone_mode=False)
    tell_text(
        "\nwhere to look next:\n"
        "  python launcher.py status            the queue\n"
        f"  python {command_line('show', last)}           what happened to one job\n"
        "  ls errors/                           screenshot, HTML and traceback of each failure\n"
        "  python launcher.py enqueue URL       a job of your own, then: python launcher.py\n"
        "  python launcher.py dashboard         all of it in a browser: http://127.0.0.1:8642/"
    )
    return int(code)


def _enqueue(base_url: str) -> tuple[int, int]:
    sys.path.insert(0, str(own_files()))
    from examples.demo_site import demo_jobs

    with closing(begin_database()) as db:
        jobs = demo_jobs(base_url)
        add_many(db, "visit", jobs)
        last = int(db.run_statement("SELECT MAX(id) AS id FROM work_queue")[0]["id"])
    return last - len(jobs) + 1, last


@contextmanager
def _demo_site() -> Iterator[str]:
    site = subprocess.Popen(
        [sys.executable, str(own_files() / "examples" / "demo_site"), "--exit-with-parent"],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert site.stdout is not None
        base_url = site.stdout.readline().strip()
        if not base_url:
            raise NightshiftError("the demo site did not start; see the lines above")
        yield base_url
    finally:
        site.terminate()
        site.wait(timeout=10)


COMMANDS = [demo]
