"""A task that notes each variable that it, a program of its, its driver or its browser sees."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

from worker import task
from worker.system.process_tree import find_browsers, find_driver


@task("pry")
def pry(page, payload, job):
    page.set_content("<title>x</title>")
    driver = find_driver(os.getpid())
    assert driver is not None
    lines = [f"{name}={value}" for name, value in os.environ.items()]
    lines += subprocess.check_output(["env"], text=True).splitlines()
    for process in (driver, *find_browsers(driver)):
        lines += Path(f"/proc/{process.pid}/environ").read_text().split("\0")
    Path(__file__).with_name("seen.json").write_text(json.dumps(lines))
