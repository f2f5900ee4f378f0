"""What a drill of a cluster needs of this machine, said in one line where it is missing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from worker.database.server_binary import ServerBinary, find_server
from worker.errors import SettingsError
from worker.installation import own_files

GALERA_LIBRARIES = (
    Path("/usr/lib/galera/libgalera_smm.so"),
    Path("/usr/lib/libgalera_smm.so"),
    Path("/usr/lib64/galera-4/libgalera_smm.so"),
)
FETCHED_MYSQL = own_files() / ".local" / "mysql-9.7" / "mysqld"
SYSTEM_FOLDERS = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin:/sbin:/bin"


def check(kind: str) -> None:
    """Raise SettingsError that names every Debian package that is missing, or that root is."""
    missing = [package for package, is_there in _packages(kind) if not is_there]
    if missing:
        raise SettingsError(
            f"a drill of a {kind} cluster needs the Debian packages {', '.join(missing)}; "
            f"install them: apt-get install {' '.join(missing)} (in a checkout: make drill-{kind})"
        )
    if os.geteuid() != 0:
        raise SettingsError(
            "a drill of a cluster gives each member a network namespace, which only root may; "
            "run it as root"
        )


def program(name: str) -> str:
    """Find a program of the system's, also where a user's PATH does not lead; or return ""."""
    search = os.pathsep.join([os.environ.get("PATH", ""), SYSTEM_FOLDERS])
    return shutil.which(name, path=search) or ""


def galera_library() -> Path | None:
    """Find the library that makes MariaDB a Galera node."""
    return next((path for path in GALERA_LIBRARIES if path.exists()), None)


def mariadb() -> ServerBinary:
    """Find MariaDB's server; raises SettingsError when the system's is another."""
    server = find_server(Path(found) if (found := program("mariadbd")) else None)
    if server.flavour != "mariadb":
        raise SettingsError(f"Galera needs MariaDB, but {server.path} is {server.flavour}")
    return server


def mysql() -> ServerBinary:
    """Find MySQL's server: NIGHTSHIFT_MYSQLD, or the one that `make drill-group` fetches."""
    named = os.environ.get("NIGHTSHIFT_MYSQLD")
    server = find_server(Path(named) if named else FETCHED_MYSQL if _is_fetched() else None)
    if server.flavour != "mysql":
        raise SettingsError(
            f"Group Replication needs MySQL, but {server.path} is {server.flavour}; "
            f"point NIGHTSHIFT_MYSQLD at one (in a checkout: make drill-group fetches MySQL 9.7)"
        )
    return server


def _is_fetched() -> bool:
    return FETCHED_MYSQL.exists()


def _packages(kind: str) -> list[tuple[str, bool]]:
    common = [("haproxy", bool(program("haproxy"))), ("iproute2", bool(program("ip")))]
    if kind == "galera":
        return [
            ("mariadb-server-core", bool(program("mariadbd"))),
            ("galera-4", galera_library() is not None),
            *common,
        ]
    return common
