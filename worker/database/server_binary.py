"""Which server program there is, which family it belongs to, and how each is spoken to.

Finds one, and has it fill a data folder; `private_server` decides when, and does the serving.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from worker.errors import DatabaseUnavailable

INITIALISE_SECONDS = 120.0
SERVER_NAMES = ("mariadbd", "mysqld")
# MariaDB's own installer script needs tools that its core package lacks, so we feed the server the
# same files ourselves. Version 11 renamed them, and packagers moved them.
MARIADB_SHARES = ("share/mysql", "share/mariadb", "share")
MARIADB_SCRIPTS = (
    ("mysql_system_tables.sql", "mariadb_system_tables.sql"),
    ("mysql_performance_tables.sql", "mariadb_performance_tables.sql"),
    ("mysql_system_tables_data.sql", "mariadb_system_tables_data.sql"),
    ("maria_add_gis_sp_bootstrap.sql",),
)
SYSTEM_FOLDERS = "/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin"
# A file that only that flavour leaves in its data folder.
MARKS = {"mysql": "mysql.ibd", "mariadb": "aria_log_control"}

COMMON_OPTIONS = (
    "--character-set-server=utf8mb4",
    "--collation-server=utf8mb4_bin",
    "--default-time-zone=+00:00",
    "--innodb-buffer-pool-size=128M",
    "--innodb-flush-log-at-trx-commit=1",
    "--local-infile=0",
    "--max-allowed-packet=64M",
    "--performance-schema=OFF",
    "--skip-log-bin",
)
# Without the second one MySQL refuses to start where its packaged upload folder does not exist.
MYSQL_OPTIONS = ("--mysqlx=OFF", "--secure-file-priv=NULL")

# What a server's complaint calls for, by the words it has for it.
REMEDIES = {
    ("no space left", "disk full", "errno: 28", "error 28"): "free some space on that disk",
    ("permission denied", "errcode: 13", "errno: 13", "error 13"): (
        "let this user write there; if AppArmor confines the system's server, point "
        "NIGHTSHIFT_MYSQLD at a copy of its binary or DATABASE_URL at a server that runs"
    ),
    ("unable to lock",): "stop the other server that uses this folder",
    ("address already in use",): "stop what listens on that port or choose another",
}


@dataclass(frozen=True, slots=True)
class ServerBinary:
    """A server program, and which flavour it is: "mysql" or "mariadb"."""

    path: Path
    flavour: str
    version: str

    def serve_command(self) -> list[str]:
        """The program with the options every private server has."""
        flavoured = MYSQL_OPTIONS if self.flavour == "mysql" else ()
        return [str(self.path), "--no-defaults", *_user_option(), *COMMON_OPTIONS, *flavoured]

    def initialise(self, data_path: Path, log_path: Path, tmp_path: Path) -> None:
        """Fill an empty data folder, with a root who needs no password.

        Raises subprocess.SubprocessError when that fails or takes too long; the log says why.
        """
        how = "--initialize-insecure" if self.flavour == "mysql" else "--bootstrap"
        with log_path.open("ab") as log:
            subprocess.run(
                [*self.serve_command(), how, f"--datadir={data_path}", f"--tmpdir={tmp_path}"],
                check=True,
                input=b"" if self.flavour == "mysql" else self._system_tables(),
                stdout=log,
                stderr=log,
                start_new_session=True,
                umask=0o077,
                timeout=INITIALISE_SECONDS,
            )

    def refuse_foreign(self, data_path: Path) -> None:
        """Raise DatabaseUnavailable, with the ways out, if the other flavour made the data."""
        made_by = flavour_of_data(data_path)
        if made_by not in (None, self.flavour):
            raise DatabaseUnavailable(
                f"{data_path} was made by {made_by}, but {self.path} is {self.flavour}; "
                f"point NIGHTSHIFT_MYSQLD at a {made_by} server, or remove {data_path} "
                "(and the jobs in it) to start afresh"
            )

    def _system_tables(self) -> bytes:
        head = b"CREATE DATABASE mysql;\nUSE mysql;\nSET @auth_root_socket = NULL;\n"
        return head + b"\n".join(self._mariadb_script(names) for names in MARIADB_SCRIPTS)

    def _mariadb_script(self, names: tuple[str, ...]) -> bytes:
        base = self.path.resolve().parent.parent
        for candidate in (base / share / name for share in MARIADB_SHARES for name in names):
            if candidate.exists():
                return candidate.read_bytes()
        raise DatabaseUnavailable(
            f"{self.path} is MariaDB, but its {names[0]} is not under {base / 'share'}; "
            "`apt install mariadb-server-core` brings both"
        )


def find_server(explicit: Path | None = None) -> ServerBinary:
    """Find a server program: the given one, then $NIGHTSHIFT_MYSQLD, then the system's.

    Raises DatabaseUnavailable, with the way to get one, when there is none or it cannot run.
    """
    chosen = explicit or os.environ.get("NIGHTSHIFT_MYSQLD") or _system_server()
    if not chosen:
        raise DatabaseUnavailable(
            "no MySQL or MariaDB server program was found; run `make setup`, or "
            "`apt install default-mysql-server-core`, or point DATABASE_URL at a server"
        )
    path = Path(shutil.which(chosen) or chosen).absolute()
    try:
        answer = subprocess.run(
            [path, "--no-defaults", "--version"],
            capture_output=True,
            check=True,
            text=True,
            timeout=30,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise DatabaseUnavailable(
            f"the server program {path} does not run ({error}); mend NIGHTSHIFT_MYSQLD, "
            "or unset it and run `make setup`"
        ) from error
    flavour = "mariadb" if "mariadb" in answer.stdout.lower() else "mysql"
    return ServerBinary(path, flavour, answer.stdout.strip())


def flavour_of_data(data_path: Path) -> str | None:
    """Say which flavour made a data folder, or None when there is none."""
    return next((name for name, mark in MARKS.items() if (data_path / mark).exists()), None)


def remedy_for(complaint: str, where: Path) -> str:
    """Say what to do about what the server or the operating system complained of."""
    complaint = complaint.lower()
    for marks, remedy in REMEDIES.items():
        if any(mark in complaint for mark in marks):
            return remedy
    return f"look at {where}"


def _system_server() -> str | None:
    # Cron and ordinary users often have no sbin folder on their PATH.
    search = os.pathsep.join([os.environ.get("PATH", ""), SYSTEM_FOLDERS])
    return next(
        (found for name in SERVER_NAMES if (found := shutil.which(name, path=search))), None
    )


def _user_option() -> list[str]:
    # The server refuses to run as the superuser unless that is said to be meant.
    return ["--user=root"] if os.geteuid() == 0 else []
