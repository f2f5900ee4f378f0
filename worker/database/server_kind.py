"""What kind of server there is: MySQL, MariaDB, a cluster of either, something else, a proxy.

Goes by what the server says of itself. What Nightshift cannot work with is refused, and why.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from worker.database.client import Database
from worker.errors import SettingsError

REFUSED = {
    "TiDB": "its ids are not given in order, and its tables take none of our default expressions",
    "Vitess": "a transaction over several shards may be written in part",
}
# What README promises; anything older lacks what the schema and the claims are written in.
OLDEST = {"MySQL": (8, 0), "MariaDB": (10, 6)}
_VARIABLES = (
    "wsrep_on",
    "group_replication_group_name",
    "group_replication_single_primary_mode",
    "auto_increment_increment",
)
_STATUS = ("wsrep_cluster_size", "wsrep_local_state_comment", "wsrep_cluster_status")


@dataclass(frozen=True, slots=True)
class Facts:
    """What a server has said: its version, that of its greeting, its comment, its variables."""

    version: str
    greeting: str = ""
    comment: str = ""
    variables: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ServerKind:
    """What a server is; `refusal` says why it cannot be used, if it cannot."""

    name: str
    details: tuple[str, ...] = ()
    id_step: int = 1
    refusal: str | None = None

    def __str__(self) -> str:
        return ", ".join((self.name, *self.details))


def recognise(db: Database) -> ServerKind:
    """Ask a server what it is."""
    # Word for word: ProxySQL answers this one itself.
    comment = db.run_statement("SELECT @@version_comment LIMIT 1")[0]
    version = db.run_statement("SELECT VERSION() AS version")[0]["version"]
    rows = db.run_statement(
        "SHOW VARIABLES WHERE Variable_name IN %(names)s", {"names": _VARIABLES}
    )
    rows += db.run_statement("SHOW STATUS WHERE Variable_name IN %(names)s", {"names": _STATUS})
    return kind_of(
        Facts(
            str(version),
            db.greeting,
            str(next(iter(comment.values()))),
            {row["Variable_name"]: row["Value"] for row in rows},
        )
    )


def require_supported(db: Database) -> ServerKind:
    """Recognise a server; raises SettingsError for one that Nightshift does not work with."""
    kind = recognise(db)
    if kind.refusal is not None:
        raise SettingsError(
            f"{kind.name} is not supported: {kind.refusal}; "
            f"point DATABASE_URL at MySQL, MariaDB, Galera or a Group Replication cluster"
        )
    return kind


def kind_of(facts: Facts) -> ServerKind:
    """Judge by what a server has said."""
    says = facts.variables
    step = int(says.get("auto_increment_increment", "1"))
    details = (*_in_front(facts), *((f"ids grow by {step}",) if step > 1 else ()))
    for name, refusal in REFUSED.items():
        if name.lower() in f"{facts.version} {facts.comment}".lower():
            return ServerKind(f"{name} ({facts.version})", details, step, refusal)
    make = "MariaDB" if "mariadb" in facts.version.lower() else "MySQL"
    version = facts.version.removeprefix("5.5.5-").partition("-MariaDB")[0]
    server = f"{make} {version}"
    if (too_old := _too_old(make, version)) is not None:
        return ServerKind(server, details, step, too_old)
    if says.get("wsrep_on") == "ON":
        state = says.get("wsrep_local_state_comment", "in an unknown state")
        members = says.get("wsrep_cluster_size", "?")
        return ServerKind(
            f"Galera ({server})", (f"{members} members", f"this one {state}", *details), step
        )
    if says.get("group_replication_group_name"):
        has_one = says.get("group_replication_single_primary_mode") == "ON"
        primaries = "one primary" if has_one else "several primaries"
        return ServerKind(f"Group Replication ({server})", (primaries, *details), step)
    return ServerKind(server, details, step)


def _too_old(make: str, version: str) -> str | None:
    """Say what is needed if a server is older; a version without a number passes."""
    found = re.match(r"(\d+)\.(\d+)", version)
    oldest = OLDEST[make]
    if found is None or (int(found[1]), int(found[2])) >= oldest:
        return None
    return f"{make} {'.'.join(map(str, oldest))} or later is needed"


def _in_front(facts: Facts) -> tuple[str, ...]:
    """Name what stands between us and the server, if its greeting is another's."""
    if "proxysql" in facts.comment.lower():
        return ("ProxySQL in front",)
    # MariaDB's greeting may begin with the version that old replicas expect of it.
    if facts.greeting and facts.greeting.removeprefix("5.5.5-") != facts.version:
        return (f"a proxy in front, which calls itself {facts.greeting}",)
    return ()
