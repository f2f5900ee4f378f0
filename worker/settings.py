"""Settings: read once, validated with a message that names the setting, frozen, passed on.

Precedence is flag > environment > `.env` > default. Click does the first two; `load_dotenv` puts
`.env` beneath the environment before Click looks. Nothing here is read at import.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qsl, unquote

from worker.errors import SettingsError, UsageError

PROJECT_ROOT = Path(__file__).resolve().parent.parent
SSL_MODES = ("disabled", "preferred", "required", "verify-ca", "verify-identity")

_UNIT_SECONDS = {"": 1.0, "ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
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


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Everything one run of the pool needs to know."""

    database: DatabaseSettings
    workers: int = 2
    total: int = 2
    offset: int = 0
    follow: bool = False
    help_others: bool = True
    max_attempts: int = 4
    max_blocks: int = 3
    breaker_cooldown_seconds: float = 30.0
    proxy_cooldown_seconds: float = 600.0
    callback_url: str | None = None
    lease_seconds: float = 180.0
    job_timeout_seconds: float = 600.0
    page_timeout_seconds: float = 30.0
    retry_delay_seconds: float = 30.0
    wait_retries_seconds: float = 900.0
    grace_seconds: float = 60.0
    errors_dir: Path = PROJECT_ROOT / "errors"
    results_dir: Path = PROJECT_ROOT / "results"
    state_dir: Path = PROJECT_ROOT / ".local"
    tasks: tuple[str, ...] = ()
    browser: str | None = None
    headless: bool = True
    hang_grace_seconds: float = 40.0
    server_grace_seconds: float = 60.0
    recycle_jobs: int = 500
    recycle_mb: int = 1500
    max_runtime_seconds: float | None = None
    quiet: bool = False

    def __post_init__(self) -> None:
        _require(self.workers >= 1, "--workers", self.workers, "give 1 or more")
        _require(self.total >= 1, "--total", self.total, "give 1 or more")
        _require(self.offset >= 0, "--offset", self.offset, "give 0 or more")
        if self.offset + self.workers > self.total:
            last = self.offset + self.workers - 1
            raise UsageError(
                f"--offset {self.offset} with --workers {self.workers} needs slots "
                f"{self.offset}..{last}, but --total {self.total} has only 0..{self.total - 1}; "
                f"raise --total or lower --offset"
            )
        _require(self.max_attempts >= 1, "--max-attempts", self.max_attempts, "give 1 or more")
        _require(self.max_blocks >= 1, "--max-blocks", self.max_blocks, "give 1 or more")
        _require(self.lease_seconds >= 3, "--lease", self.lease_seconds, "give 3 s or more")
        _require(self.recycle_jobs >= 1, "--recycle-jobs", self.recycle_jobs, "give 1 or more")
        _require(self.recycle_mb >= 1, "--recycle-mb", self.recycle_mb, "give 1 or more")
        for flag, seconds in (
            ("--job-timeout", self.job_timeout_seconds),
            ("--page-timeout", self.page_timeout_seconds),
            ("--breaker-cooldown", self.breaker_cooldown_seconds),
            ("--proxy-cooldown", self.proxy_cooldown_seconds),
        ):
            _require(seconds > 0, flag, seconds, "give more than 0")

    @property
    def slots(self) -> range:
        """The slots this run works itself, out of `total`."""
        return range(self.offset, self.offset + self.workers)


def parse_duration(text: str) -> float:
    """Read `600`, `90s`, `10m`, `6h` or `30d` as seconds; raise ValueError for anything else."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|[smhd]?)\s*", text.lower())
    if match is None:
        raise ValueError(f"{text!r} is not a duration; write 600, 90s, 10m, 6h or 30d")
    return float(match[1]) * _UNIT_SECONDS[match[2]]


def seconds_until(clock: str, now: datetime) -> float:
    """Tell how long it is to the next time the local clock shows `HH:MM`."""
    match = re.fullmatch(r"([01]?\d|2[0-3]):([0-5]\d)", clock.strip())
    if match is None:
        raise UsageError(f"--until {clock} is not a time of day; write it as 06:00")
    # Without a zone it is the local clock's own time, which knows of the hour changed overnight.
    local = now.replace(tzinfo=None)
    then = local.replace(hour=int(match[1]), minute=int(match[2]), second=0, microsecond=0)
    if then <= local:
        then += timedelta(days=1)
    return then.timestamp() - now.timestamp()


def load_dotenv(path: Path, environ: MutableMapping[str, str] | None = None) -> None:
    """Put the `KEY=value` lines of a file beneath the environment; a missing file is no error."""
    environ = os.environ if environ is None else environ
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} cannot be read: {error}") from error
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix("export ").strip()
        if not text or text.startswith("#"):
            continue
        key, equals, value = text.partition("=")
        if not equals or not re.fullmatch(r"[A-Za-z_]\w*", key.strip()):
            raise SettingsError(f"{path}:{number}: expected KEY=value")
        environ.setdefault(key.strip(), _unquoted(value.strip()))


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


def _unquoted(value: str) -> str:
    if quoted := re.fullmatch(r"""(['"])(.*?)\1(?:\s+#.*)?""", value):
        return quoted[2]
    return re.sub(r"\s+#.*$", "", value)


def _require(holds: bool, flag: str, value: float, remedy: str) -> None:
    if not holds:
        raise UsageError(f"{flag} {value:g} makes no sense; {remedy}")
