"""Where the queue's database is: `DATABASE_URL`, or `MYSQL_*`, or the private server.

No message repeats a password, not even one that stands in the wrong place.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from worker.errors import SettingsError

SSL_MODES = ("disabled", "preferred", "required", "verify-ca", "verify-identity")

_URL = re.compile(
    r"^(?P<scheme>[a-z+]+)://"
    # Greedy up to the last @, so that a password may hold @, /, ? and # unescaped.
    r"(?:(?P<user>[^:@/]*)(?::(?P<password>.*))?@)?"
    r"(?P<host>\[[^\]]+\]|[^:/?#@]*)(?::(?P<port>[^/?]*))?"
    r"(?:/(?P<database>[^/?#]*))?(?:\?(?P<options>.*))?$",
    re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """Where the queue lives and how to get in. Its text never holds the password."""

    user: str = "root"
    password: str = field(default="", repr=False)
    host: str = "localhost"
    port: int = 3306
    database: str = "nightshift"
    unix_socket: str | None = None
    ssl_mode: str = "preferred"
    ssl_ca: str | None = None
    ssl_cert: str | None = None
    ssl_key: str | None = field(default=None, repr=False)

    @property
    def key(self) -> str:
        """A short name for files about this database."""
        return hashlib.sha256(str(self).encode()).hexdigest()[:16]

    def __str__(self) -> str:
        where = self.unix_socket or f"{self.host}:{self.port}"
        return f"{self.user}@{where}/{self.database}"


def database_settings(environ: Mapping[str, str]) -> DatabaseSettings | None:
    """Read DATABASE_URL or MYSQL_*; None when neither is set and the private server is meant."""
    if url := environ.get("DATABASE_URL", "").strip():
        return _from_url(url)
    if any(environ.get(f"MYSQL_{name}") for name in ("HOST", "SOCKET", "UNIX_PORT", "USER")):
        return _from_parts(environ)
    return None


def _from_url(url: str) -> DatabaseSettings:
    match = _URL.match(url)
    if match is None or match["scheme"] not in ("mysql", "mariadb", "mysql+pymysql"):
        raise SettingsError(
            "DATABASE_URL is not understood; write mysql://user:password@host:3306/name"
        )
    options = {
        key.lower().replace("_", "-"): value
        for key, value in parse_qsl(match["options"] or "", keep_blank_values=True)
    }
    options.pop("charset", None)
    if not match["database"]:
        raise SettingsError("DATABASE_URL names no database; add it after the host: …:3306/name")
    if match["user"] is None and not (match["port"] or "0").isdigit():
        # What stands there may be a password, so it is not repeated.
        raise SettingsError(
            "DATABASE_URL has no @ before its host; write mysql://user:password@host:3306/name"
        )
    socket = options.pop("socket", None) or options.pop("unix-socket", None)
    settings = DatabaseSettings(
        user=unquote(match["user"] or "root"),
        password=unquote(match["password"] or ""),
        host=unquote(match["host"] or "localhost").strip("[]"),
        port=_port("DATABASE_URL", match["port"]),
        database=unquote(match["database"]),
        unix_socket=socket,
        ssl_mode=_ssl_mode("DATABASE_URL", options.pop("ssl-mode", None), options.get("ssl-ca")),
        ssl_ca=options.pop("ssl-ca", None),
        ssl_cert=options.pop("ssl-cert", None),
        ssl_key=options.pop("ssl-key", None),
    )
    if options:
        raise SettingsError(
            f"DATABASE_URL has unknown option {sorted(options)[0]!r}; "
            f"known are socket, ssl-mode, ssl-ca, ssl-cert, ssl-key"
        )
    return settings


def _from_parts(environ: Mapping[str, str]) -> DatabaseSettings:
    return DatabaseSettings(
        user=environ.get("MYSQL_USER") or "root",
        password=environ.get("MYSQL_PASSWORD") or "",
        host=environ.get("MYSQL_HOST") or "localhost",
        port=_port("MYSQL_PORT", environ.get("MYSQL_PORT")),
        database=environ.get("MYSQL_DATABASE") or "nightshift",
        unix_socket=environ.get("MYSQL_SOCKET") or environ.get("MYSQL_UNIX_PORT") or None,
        ssl_mode=_ssl_mode(
            "MYSQL_SSL_MODE", environ.get("MYSQL_SSL_MODE"), environ.get("MYSQL_SSL_CA")
        ),
        ssl_ca=environ.get("MYSQL_SSL_CA") or None,
        ssl_cert=environ.get("MYSQL_SSL_CERT") or None,
        ssl_key=environ.get("MYSQL_SSL_KEY") or None,
    )


def _port(setting: str, text: str | None) -> int:
    if not text:
        return 3306
    if not text.isdigit() or not 0 < int(text) < 65536:
        raise SettingsError(f"{setting}: {text!r} is not a port; write a number up to 65535")
    return int(text)


def _ssl_mode(setting: str, text: str | None, ca: str | None) -> str:
    mode = (text or ("verify-ca" if ca else "preferred")).lower().replace("_", "-")
    if mode not in SSL_MODES:
        raise SettingsError(f"{setting}: ssl-mode {text!r} is unknown; use {', '.join(SSL_MODES)}")
    return mode
