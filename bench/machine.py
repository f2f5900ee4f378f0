"""What a figure depends on: the machine, its load, and the versions at work. No names of hosts."""

from __future__ import annotations

import os
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from worker.browser import sandbox
from worker.browser.options import find_browser
from worker.settings import PROJECT_ROOT


def facts() -> dict[str, str]:
    """Say in words and numbers what this is measured on."""
    return {
        "processor": f"{_processor()}, {os.cpu_count()} cores",
        "memory": f"{_memory_gb():.0f} GB",
        "kernel": platform.release().partition("-")[0],
        "disk of the servers": _filesystem("/tmp"),  # noqa: S108
        "load before": f"{os.getloadavg()[0]:.2f}",
        "Python": platform.python_version(),
        "Playwright": version("playwright"),
        "browser": _output([str(find_browser()), "--version"]),
        "user": "root" if os.geteuid() == 0 else "not root",
        "Chromium's sandbox": "on" if sandbox.is_wanted() else "off: Chromium has none for root",
        "commit": _output(["git", "-C", str(PROJECT_ROOT), "describe", "--always", "--dirty"]),
    }


def _processor() -> str:
    text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def _memory_gb() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)


def _filesystem(path: str) -> str:
    return _output(["stat", "-f", "-c", "%T", path])


def _output(command: list[str]) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=30)
    except (OSError, subprocess.SubprocessError):
        return "not known"
    return done.stdout.strip()
