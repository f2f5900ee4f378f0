"""A MySQL group (Group Replication, InnoDB Cluster): one primary takes writes, or several do."""

from __future__ import annotations

import uuid

from worker.drill.cluster.cluster import ASK_SECONDS, Cluster
from worker.drill.cluster.member import Member

PORT = 3306
GROUP_PORT = 33061
RECOVERY = "recovery"
_STATE = (
    "SELECT MEMBER_ID = @@server_uuid AS is_own, MEMBER_STATE AS state, MEMBER_ROLE AS role "
    "FROM performance_schema.replication_group_members"
)


class GroupCluster(Cluster):
    """Three members of a group."""

    kind = "Group Replication"
    has_one_primary = True

    def bring_up(self) -> None:
        self._group = str(uuid.uuid4())
        made = self.folder / "made"
        made.mkdir()
        first = self.members[0]
        self.server.initialise(made, first.log, first.folder / "tmp")
        # Each server makes itself an identity of its own.
        (made / "auto.cnf").unlink(missing_ok=True)
        self._copy_data(made)
        for member in self.members:
            member.start(self._command(member), {})
            self._prepare(member)
        first.ask(
            "SET GLOBAL group_replication_bootstrap_group = ON",
            "START GROUP_REPLICATION",
            "SET GLOBAL group_replication_bootstrap_group = OFF",
        )
        for member in self.members[1:]:
            self.rejoin(member)
        self.heal()

    def start(self, member: Member) -> None:
        member.start(self._command(member), {})
        self.rejoin(member)

    def is_whole(self, member: Member) -> bool:
        rows = member.ask(_STATE, seconds=ASK_SECONDS)
        online = sum(row["state"] == "ONLINE" for row in rows)
        return bool(online == len(self.members))

    def takes_writes(self, member: Member) -> bool:
        rows = member.ask(_STATE, seconds=ASK_SECONDS)
        own = [row for row in rows if row["is_own"]]
        reached = sum(row["state"] in ("ONLINE", "RECOVERING") for row in rows)
        is_primary = bool(own) and own[0]["role"] == "PRIMARY" and own[0]["state"] == "ONLINE"
        return is_primary and 2 * reached > len(rows)

    def is_in(self, member: Member) -> bool:
        rows = member.ask(_STATE, seconds=ASK_SECONDS)
        return any(row["is_own"] and row["state"] in ("ONLINE", "RECOVERING") for row in rows)

    def leave(self, member: Member) -> None:
        member.ask("STOP GROUP_REPLICATION")

    def rejoin(self, member: Member) -> None:
        # One that was thrown out has to leave in order first.
        member.ask("STOP GROUP_REPLICATION", "START GROUP_REPLICATION", seconds=60.0)

    def make_primary(self, member: Member) -> None:
        """Have the group change its primary, in order."""
        own = member.ask("SELECT @@server_uuid AS id")[0]["id"]
        member.ask(f"SELECT group_replication_set_as_primary('{own}')", seconds=60.0)

    def _prepare(self, member: Member) -> None:
        """Make the user by whom members fetch what they have missed, on each by itself."""
        member.ask(
            "SET sql_log_bin = 0",
            f"CREATE USER '{RECOVERY}'@'%' IDENTIFIED BY '{RECOVERY}'",
            f"GRANT REPLICATION SLAVE, CONNECTION_ADMIN, BACKUP_ADMIN, GROUP_REPLICATION_STREAM "
            f"ON *.* TO '{RECOVERY}'@'%'",
            f"CHANGE REPLICATION SOURCE TO SOURCE_USER = '{RECOVERY}', "
            f"SOURCE_PASSWORD = '{RECOVERY}' FOR CHANNEL 'group_replication_recovery'",
        )

    def _command(self, member: Member) -> list[str]:
        address = self.network.address(member.number)
        return [
            *self.network.command(member.number),
            str(self.server.path),
            "--no-defaults",
            "--user=root",
            f"--datadir={member.data}",
            f"--tmpdir={member.folder / 'tmp'}",
            f"--socket={member.socket}",
            f"--pid-file={member.folder / 'server.pid'}",
            f"--log-error={member.log}",
            f"--bind-address={address}",
            f"--port={PORT}",
            f"--server-id={member.number}",
            "--mysqlx=OFF",
            "--secure-file-priv=NULL",
            "--character-set-server=utf8mb4",
            "--collation-server=utf8mb4_bin",
            "--default-time-zone=+00:00",
            "--innodb-buffer-pool-size=128M",
            "--innodb-flush-log-at-trx-commit=2",
            "--sync-binlog=0",
            "--gtid-mode=ON",
            "--enforce-gtid-consistency=ON",
            f"--log-bin={member.folder / 'binlog'}",
            f"--relay-log={member.folder / 'relay'}",
            "--skip-name-resolve",
            f"--report-host={address}",
            f"--report-port={PORT}",
            *self._group_options(address),
        ]

    def _group_options(self, address: str) -> list[str]:
        """Say which group a member belongs to, and how it talks to the others."""
        seeds = ",".join(
            f"{self.network.address(each.number)}:{GROUP_PORT}" for each in self.members
        )
        single = "ON" if self.has_one_primary else "OFF"
        return [
            "--plugin-load-add=group_replication.so",
            f"--loose-group-replication-group-name={self._group}",
            "--loose-group-replication-start-on-boot=OFF",
            f"--loose-group-replication-local-address={address}:{GROUP_PORT}",
            f"--loose-group-replication-group-seeds={seeds}",
            f"--loose-group-replication-ip-allowlist={address.rpartition('.')[0]}.0/24",
            "--loose-group-replication-recovery-get-public-key=ON",
            f"--loose-group-replication-single-primary-mode={single}",
            "--loose-group-replication-member-expel-timeout=2",
        ]


class MultiPrimaryCluster(GroupCluster):
    """Three members of a group that all take writes."""

    kind = "Group Replication with several primaries"
    has_one_primary = False
