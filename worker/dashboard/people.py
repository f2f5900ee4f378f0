"""Who may use the dashboard: users with a role and the tokens of programs, in one 0600 file.

Passwords are kept as scrypt hashes, tokens as SHA-256. The file also holds the key that sessions
are signed with: whoever may read it may be anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
import secrets
import threading
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from worker.errors import SettingsError, UsageError
from worker.system.private_files import is_open_to_others

MIN_PASSWORD = 10
# 32 MB and about 0.1 s a guess on a small machine.
SCRYPT = {"n": 2**15, "r": 8, "p": 1, "maxmem": 64 * 2**20, "dklen": 32}
_NAME = re.compile(r"[A-Za-z0-9._@-]{1,64}")


class Role(StrEnum):
    """What somebody may do: look, or act too."""

    VIEWER = "viewer"
    OPERATOR = "operator"


@dataclass(frozen=True, slots=True)
class User:
    """Somebody who is signed in; `stamp` changes with the password."""

    name: str
    role: Role
    stamp: str = ""

    @property
    def may_act(self) -> bool:
        """Whether this one may change anything."""
        return self.role is Role.OPERATOR


class People:
    """The file of users and tokens, read again when it has changed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._seen: tuple[int, int] | None = None
        self._known: dict[str, Any] = {}

    def has_users(self) -> bool:
        """Tell whether anybody has to sign in."""
        return bool(self._read()["users"])

    def find(self, name: str) -> User | None:
        """Give the user of a name as the file has it now."""
        kept = self._read()["users"].get(name)
        return None if kept is None else User(name, Role(kept["role"]), kept["hash"][:16])

    def check(self, name: str, password: str) -> User | None:
        """Give the user if the password is right; an unknown name takes just as long."""
        kept = self._read()["users"].get(name)
        salt = bytes.fromhex(kept["salt"]) if kept else b"nobody of this name"
        is_right = hmac.compare_digest(_hash(password, salt), kept["hash"] if kept else "")
        return self.find(name) if kept and is_right else None

    def set_user(self, name: str, role: Role, password: str) -> bool:
        """Add a user or change one; return whether it is new."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be a user's name: letters, digits and ._@- only")
        if len(password) < MIN_PASSWORD:
            raise UsageError(f"a password has at least {MIN_PASSWORD} characters; nothing was done")
        known = self._read()
        salt = secrets.token_bytes(16)
        is_new = name not in known["users"]
        known["users"][name] = {
            "role": role.value,
            "salt": salt.hex(),
            "hash": _hash(password, salt),
        }
        self._write(known)
        return is_new

    def remove_user(self, name: str) -> bool:
        """Forget a user; tell whether there was one. Sessions end with it."""
        known = self._read()
        was_there = known["users"].pop(name, None) is not None
        self._write(known)
        return was_there

    def names(self) -> dict[str, Role]:
        """List the users with their roles."""
        return {name: Role(kept["role"]) for name, kept in sorted(self._read()["users"].items())}

    def add_token(self, name: str) -> str:
        """Make a token for a program that reads, in place of one of that name; it is shown once."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be a token's name: letters, digits and ._@- only")
        token = f"ns_{secrets.token_urlsafe(32)}"
        known = self._read()
        known["tokens"][name] = hashlib.sha256(token.encode()).hexdigest()
        self._write(known)
        return token

    def remove_token(self, name: str) -> bool:
        """Let a token be worth nothing any more; tell whether there was one."""
        known = self._read()
        was_there = known["tokens"].pop(name, None) is not None
        self._write(known)
        return was_there

    def name_of_token(self, token: str) -> str | None:
        """Tell whose a token is; None when it is nobody's."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        found = [
            name
            for name, kept in self._read()["tokens"].items()
            if hmac.compare_digest(kept, digest)
        ]
        return found[0] if found else None

    def signing_key(self) -> str:
        """Give the key of this dashboard's sessions, making one the first time."""
        known = self._read()
        if not known["key"]:
            known["key"] = secrets.token_hex(32)
            self._write(known)
        return str(known["key"])

    def _read(self) -> dict[str, Any]:
        with self._lock:
            try:
                found = self._path.stat()
            except FileNotFoundError:
                return {"key": "", "users": {}, "tokens": {}}
            if is_open_to_others(self._path):
                raise SettingsError(
                    f"{self._path} holds keys, and others may read it: chmod 600 {self._path}"
                )
            if self._seen != (found.st_mtime_ns, found.st_size):
                self._known = json.loads(self._path.read_bytes())
                self._seen = (found.st_mtime_ns, found.st_size)
            return json.loads(json.dumps(self._known))  # type: ignore[no-any-return]

    def _write(self, known: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        partial = self._path.with_name(f".{self._path.name}.{os.getpid()}.partial")
        number = os.open(partial, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(number, "w", encoding="utf-8") as file:
            json.dump(known, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
        partial.rename(self._path)


def _hash(password: str, salt: bytes) -> str:
    return hashlib.scrypt(password.encode(), salt=salt, **SCRYPT).hex()
