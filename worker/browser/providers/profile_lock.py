"""Who uses a profile's folder: Chromium's SingletonLock, and the processes of this machine.

A lock is removed only when it is provably stale. The headless shell takes no lock at all, so the
command lines of running browsers are asked too.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

from worker.errors import ProviderError
from worker.system.process_tree import PROC, ProcessId, ProcessStat, all_processes, read_stat

LOCK = "SingletonLock"
SINGLETON_FILES = (LOCK, "SingletonSocket", "SingletonCookie")
_FOLDER_FLAG = "--user-data-dir="


def make_sure_unused(folder: Path, who: str, provider: str) -> None:
    """Remove a stale lock; raises ProviderError, naming the process, when the folder is in use."""
    if users := browsers_using(folder):
        pid = users[0].pid
        raise ProviderError(
            f"{who}: {folder} is in use by process {pid} on this machine; "
            f"let it end, or stop the profile",
            provider=provider,
            kind="already_running",
        )
    if (owner := _owner_of(folder)) is None:
        return
    host, pid = owner
    if host != socket.gethostname():
        raise ProviderError(
            f"{who}: {folder} is locked by process {pid} on {host or 'an unknown machine'}; "
            f"if that machine is gone, remove {folder / LOCK}",
            provider=provider,
            kind="already_running",
        )
    if _may_hold(pid, folder):
        raise ProviderError(
            f"{who}: {folder} is locked by process {pid}, a running browser; let it end",
            provider=provider,
            kind="already_running",
        )
    remove_lock(folder)


def browsers_using(folder: Path) -> list[ProcessId]:
    """The leaders of the process groups on this machine that were started with the folder."""
    return [
        stat.id
        for stat in all_processes()
        if not stat.is_dead and stat.leads_group and _uses(stat, folder)
    ] or [stat.id for stat in all_processes() if not stat.is_dead and _uses(stat, folder)]


def remove_lock(folder: Path) -> None:
    """Take the files away by which Chromium knows that a profile is in use."""
    for name in SINGLETON_FILES:
        (folder / name).unlink(missing_ok=True)


def is_locked_here(folder: Path) -> bool:
    """Tell whether a lock is there that this machine has made."""
    owner = _owner_of(folder)
    return owner is not None and owner[0] == socket.gethostname()


def _owner_of(folder: Path) -> tuple[str, int] | None:
    """Read the lock, a symbolic link to nowhere whose target is `host-pid`; None without one."""
    try:
        target = str((folder / LOCK).readlink())
    except FileNotFoundError:
        return None
    except OSError:
        # Something of that name which no Chromium has made proves nothing.
        return "", 0
    host, _, pid = target.rpartition("-")
    return (host, int(pid)) if pid.isdigit() else ("", 0)


def _may_hold(pid: int, folder: Path) -> bool:
    """Tell whether a process may be the browser in the folder: what cannot be read, may."""
    stat = read_stat(pid)
    if stat is None or stat.is_dead:
        return False
    try:
        arguments = _arguments(pid)
    except OSError:
        return True
    if not any("chrom" in Path(argument).name.lower() for argument in arguments[:3]):
        return False
    # A browser without the flag uses its user's default folder, which may be this one.
    return not list(_folders(arguments)) or _is_named(arguments, folder)


def _uses(stat: ProcessStat, folder: Path) -> bool:
    try:
        return _is_named(_arguments(stat.pid), folder)
    except OSError:
        return False


def _is_named(arguments: list[str], folder: Path) -> bool:
    return any(found.resolve() == folder.resolve() for found in _folders(arguments))


def _folders(arguments: list[str]) -> Iterator[Path]:
    for argument in arguments:
        if argument.startswith(_FOLDER_FLAG):
            yield Path(argument.removeprefix(_FOLDER_FLAG))


def _arguments(pid: int) -> list[str]:
    return (PROC / str(pid) / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
