"""Who may use the dashboard: users with a role and the tokens of programs, in one 0600 file.

Passwords are kept as scrypt hashes, tokens as SHA-256. The file also holds the key that sessions
are signed with: whoever may read it may be anybody.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from worker.dashboard.private_json import PrivateJson
from worker.errors import UsageError

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
    """Somebody who is signed in; `stamp` changes with the password and the role."""

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
        self._file = PrivateJson(path, {"key": "", "users": {}, "tokens": {}})

    def has_users(self) -> bool:
        """Tell whether anybody has to sign in."""
        return bool(self._file.read()["users"])

    def find(self, name: str) -> User | None:
        """Give the user of a name as the file has it now."""
        kept = self._file.read()["users"].get(name)
        if kept is None:
            return None
        return User(name, Role(kept["role"]), f"{kept['role']} {kept['hash'][:16]}")

    def check(self, name: str, password: str) -> User | None:
        """Give the user if the password is right; an unknown name takes just as long."""
        kept = self._file.read()["users"].get(name)
        salt = bytes.fromhex(kept["salt"]) if kept else b"nobody of this name"
        is_right = hmac.compare_digest(_hash(password, salt), kept["hash"] if kept else "")
        return self.find(name) if kept and is_right else None

    def set_user(self, name: str, role: Role, password: str) -> bool:
        """Add a user or change one; return whether it is new."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be a user's name: letters, digits and ._@- only")
        if len(password) < MIN_PASSWORD:
            raise UsageError(f"a password has at least {MIN_PASSWORD} characters; nothing was done")
        salt = secrets.token_bytes(16)
        user = {"role": role.value, "salt": salt.hex(), "hash": _hash(password, salt)}
        with self._file.changed() as known:
            is_new = name not in known["users"]
            known["users"][name] = user
        return is_new

    def remove_user(self, name: str) -> bool:
        """Forget a user; tell whether there was one. Sessions end with it."""
        with self._file.changed() as known:
            return known["users"].pop(name, None) is not None

    def names(self) -> dict[str, Role]:
        """List the users with their roles."""
        return {
            name: Role(kept["role"]) for name, kept in sorted(self._file.read()["users"].items())
        }

    def add_token(self, name: str) -> str:
        """Make a token for a program that reads, in place of one of that name; it is shown once."""
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} cannot be a token's name: letters, digits and ._@- only")
        token = f"ns_{secrets.token_urlsafe(32)}"
        with self._file.changed() as known:
            known["tokens"][name] = hashlib.sha256(token.encode()).hexdigest()
        return token

    def remove_token(self, name: str) -> bool:
        """Let a token be worth nothing any more; tell whether there was one."""
        with self._file.changed() as known:
            return known["tokens"].pop(name, None) is not None

    def name_of_token(self, token: str) -> str | None:
        """Tell whose a token is; None when it is nobody's."""
        digest = hashlib.sha256(token.encode()).hexdigest()
        found = [
            name
            for name, kept in self._file.read()["tokens"].items()
            if hmac.compare_digest(kept, digest)
        ]
        return found[0] if found else None

    def signing_key(self) -> str:
        """Give the key of this dashboard's sessions, making one the first time."""
        if key := self._file.read()["key"]:
            return str(key)
        with self._file.changed() as known:
            known["key"] = known["key"] or secrets.token_hex(32)
            return str(known["key"])


def _hash(password: str, salt: bytes) -> str:
    return hashlib.scrypt(password.encode(), salt=salt, **SCRYPT).hex()
