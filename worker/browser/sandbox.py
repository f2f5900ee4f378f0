"""Chromium's sandbox: whether it is on, read off its processes, and how to have it.

In it, a page that breaks out of its renderer still has no files, no network and no other process.
"""

from __future__ import annotations

import os
from pathlib import Path

from worker.system.process_tree import descendants

ROOT_REMEDY = "Chromium has none for root; run Nightshift as an ordinary user to have it"
# What a kernel may be set to, in the way of an ordinary user's namespaces, and what allows them.
SWITCHES = (
    ("kernel.apparmor_restrict_unprivileged_userns", "1", "0"),
    ("kernel.unprivileged_userns_clone", "0", "1"),
    ("user.max_user_namespaces", "0", "10000"),
)
SYSTEM_SETTINGS = Path("/proc/sys")


def is_wanted() -> bool:
    """Tell whether browsers are started with it: Chromium refuses to run its sandbox as root."""
    return os.geteuid() != 0


def describe(parent: int) -> str:
    """Say whether the browsers that a process has started are in their sandbox."""
    if is_on(parent):
        return "its sandbox is on"
    why = how_to_allow() if is_wanted() else ROOT_REMEDY
    return f"its sandbox is OFF: {why}"


def is_on(parent: int) -> bool:
    """Tell whether every renderer below a process lives in a process namespace of its own."""
    renderers = [
        stat.pid for stat in descendants(parent) if b"--type=renderer" in _arguments(stat.pid)
    ]
    ours = _namespaces(os.getpid())
    return bool(renderers) and all(_namespaces(pid) > ours for pid in renderers)


def how_to_allow() -> str:
    """Say what keeps an ordinary user's Chromium from its sandbox, and what to do about it."""
    for name, blocking, allowing in SWITCHES:
        if _setting(name) == blocking:
            return f"allow unprivileged user namespaces (as root: sysctl {name}={allowing})"
    return (
        "allow unprivileged user namespaces; a container needs a seccomp profile that lets "
        "Chromium make them"
    )


def _setting(name: str) -> str | None:
    try:
        return (SYSTEM_SETTINGS / name.replace(".", "/")).read_text(encoding="ascii").strip()
    except OSError:
        return None


def _namespaces(pid: int) -> int:
    """Count the process namespaces that a process is in; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0
    return next((len(line.split()) - 1 for line in lines.splitlines() if line[:6] == "NSpid:"), 0)


def _arguments(pid: int) -> bytes:
    """Read a process's arguments; Chromium's have spaces between them, not zeros."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
