"""Which environment variables are nobody's business but the pool's, and what others may see.

Drivers, browsers and jobs get none of the pool's own settings, and no URL with a login in it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

# Nightshift's own, what reports errors or pays for the machine, and the service manager's.
_OF_THE_POOL = re.compile(
    r"(?:DATABASE_URL|SENTRY|MYSQL|NIGHTSHIFT|AWS|AZURE|GOOGLE|GCP|GITHUB|GITLAB|CI|DOCKER"
    r"|KUBERNETES|VAULT|SSH|GPG|PG|REDIS|OTEL|NOTIFY|WATCHDOG)(?:_|$)|.*_(?:DSN|PROXY)$",
    re.IGNORECASE,
)
_PROXY = re.compile(r"(?:https?|ftp|all|ws|wss|socks|no)_proxy", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,20}://")
_SECRET = re.compile(
    r"passw|passphrase|secret|token|credential|signature|authorization|cookie"
    r"|(?:^|_)(?:(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|LICENSE)_?KEY|KEY|PWD|PASS|SIG|AUTH|JWT"
    r"|OTP|PIN|SID)(?:_|$)",
    re.IGNORECASE,
)
# A shorter value may be any word.
MIN_SECRET = 8
# Names that look like secrets and are paths or switches; PWD is the folder a program runs in.
_HARMLESS = frozenset({"PWD", "OLDPWD"})


def is_of_the_pool(name: str) -> bool:
    """Tell whether a variable is a setting of the pool or of its machine, never of a job."""
    return _OF_THE_POOL.match(name) is not None


def is_secret_variable(name: str) -> bool:
    """Tell whether a variable of this name holds a secret."""
    return name not in _HARMLESS and _SECRET.search(name) is not None


def secrets_of(environment: Mapping[str, str]) -> list[str]:
    """List the values that must not be written anywhere: those of variables named like secrets."""
    return [
        value
        for name, value in environment.items()
        if is_secret_variable(name) and len(value) >= MIN_SECRET and not value.startswith("/")
    ]


def without_secrets(environment: Mapping[str, str]) -> dict[str, str]:
    """Copy an environment for a program that pages talk to.

    A proxy's address stays, without its login: Chromium would ignore that anyway.
    """
    public = {}
    for name, value in environment.items():
        if _PROXY.fullmatch(name):
            public[name] = _without_login(value)
        elif not is_of_the_pool(name) and not is_secret_variable(name) and not _has_login(value):
            public[name] = value
    return public


def _has_login(value: str) -> bool:
    return "@" in value and _SCHEME.search(value) is not None


def _without_login(value: str) -> str:
    """Cut a login out of `http://user:password@host:8080`, or of the same without a scheme."""
    login, at, host = value.rpartition("@")
    if not at:
        return value
    scheme = _SCHEME.match(login)
    return (scheme[0] if scheme else "") + host
