"""A Galera cluster of MariaDB: every member takes writes, refused at COMMIT if another was first.

All members begin with the same data and come back by what they missed alone (IST), also after a
crash, by the position that they recover. A whole copy (SST) would be a fault of the drill's.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

from worker.drill.cluster.cluster import ASK_SECONDS, Cluster
from worker.drill.cluster.member import Member
from worker.drill.cluster.needs import galera_library
from worker.errors import DatabaseUnavailable

RECOVER_SECONDS = 60.0
PORT = 4567
SST = "nightshift"
# The server calls this on both sides of a transfer. Told to bypass, nothing is copied: the joiner
# is only told from where on it gets what it missed. The joiner's address is a folder of its own.
SST_SCRIPT = """#!/bin/bash
while (($#)); do
    case $1 in
        --role) role=$2 ;;
        --address) address=$2 ;;
        --datadir) data=$2 ;;
        --gtid) gtid=$2 ;;
        --bypass) bypass=yes ;;
    esac
    shift
done
if [[ $role == donor ]]; then
    [[ ${bypass-} == yes ]] || { echo "a whole copy is not offered" >&2; exit 1; }
    echo "$gtid" >"$address/gtid.part" && mv "$address/gtid.part" "$address/gtid"
    echo "done $gtid"
    exit 0
fi
folder=$(dirname "${data%/}")
rm -f "$folder/gtid"
echo "ready $folder"
while [[ ! -e $folder/gtid ]]; do
    kill -0 $PPID 2>/dev/null || exit 1
    sleep 0.1
done
cat "$folder/gtid"
"""
_POSITION = re.compile(r"Recovered position:?\s*([0-9a-f-]{36}:-?\d+)")


class GaleraCluster(Cluster):
    """Three nodes that all take writes."""

    kind = "Galera"

    def bring_up(self) -> None:
        scripts = self.folder / "bin"
        scripts.mkdir()
        script = scripts / f"wsrep_sst_{SST}"
        script.write_text(SST_SCRIPT, encoding="ascii")
        script.chmod(0o700)
        first, *others = self.members
        first.data.mkdir()
        self.server.initialise(first.data, first.log, first.folder / "tmp")
        # Once up and down, so that all have the same position of the same cluster.
        self._run(first, "--wsrep-new-cluster")
        first.shut_down()
        for member in others:
            shutil.copytree(first.data, member.data)
        self._run(first, "--wsrep-new-cluster")
        for member in others:
            self._run(member)
        self.heal()

    def start(self, member: Member) -> None:
        self._run(member, f"--wsrep-start-position={self._position(member)}")

    def is_whole(self, member: Member) -> bool:
        said = self._status(member)
        return (
            said["wsrep_ready"] == "ON"
            and said["wsrep_local_state_comment"] == "Synced"
            and int(said["wsrep_cluster_size"]) == len(self.members)
        )

    def takes_writes(self, member: Member) -> bool:
        said = self._status(member)
        return said["wsrep_ready"] == "ON" and said["wsrep_local_state_comment"] == "Synced"

    def is_in(self, member: Member) -> bool:
        return self._status(member)["wsrep_ready"] == "ON"

    def leave(self, member: Member) -> None:
        member.ask("SET GLOBAL wsrep_cluster_address = ''")

    def rejoin(self, member: Member) -> None:
        member.ask(f"SET GLOBAL wsrep_cluster_address = '{self._address}'")

    @property
    def _address(self) -> str:
        addresses = ",".join(self.network.address(member.number) for member in self.members)
        return f"gcomm://{addresses}"

    def _status(self, member: Member) -> dict[str, str]:
        rows = member.ask("SHOW STATUS LIKE 'wsrep%'", seconds=ASK_SECONDS)
        return {row["Variable_name"]: row["Value"] for row in rows}

    def _run(self, member: Member, *options: str) -> None:
        path = f"{self.folder / 'bin'}:{os.environ.get('PATH', '')}:/usr/sbin:/usr/bin:/bin"
        member.start([*self._command(member), *options], {"PATH": path})

    def _command(self, member: Member) -> list[str]:
        address = self.network.address(member.number)
        provider = (
            f"gmcast.listen_addr=tcp://{address}:{PORT}; ist.recv_addr={address}:4568; "
            f"gcache.size=256M; gcache.recover=yes; pc.recovery=yes"
        )
        return [
            *self.network.command(member.number),
            *self.server.serve_command(),
            f"--datadir={member.data}",
            f"--tmpdir={member.folder / 'tmp'}",
            f"--socket={member.socket}",
            f"--pid-file={member.folder / 'server.pid'}",
            f"--log-error={member.log}",
            f"--bind-address={address}",
            "--binlog-format=ROW",
            "--default-storage-engine=InnoDB",
            "--innodb-autoinc-lock-mode=2",
            "--innodb-flush-log-at-trx-commit=2",
            "--skip-name-resolve",
            "--wsrep-on=ON",
            f"--wsrep-provider={galera_library()}",
            f"--wsrep-provider-options={provider}",
            "--wsrep-cluster-name=drill",
            f"--wsrep-cluster-address={self._address}",
            f"--wsrep-node-address={address}",
            f"--wsrep-node-name={member.name}",
            f"--wsrep-sst-method={SST}",
        ]

    def _position(self, member: Member) -> str:
        """Have a server that ended recover its data, and say how far they are."""
        done = subprocess.run(
            [
                *self.server.serve_command(),
                f"--datadir={member.data}",
                f"--tmpdir={member.folder / 'tmp'}",
                f"--socket={member.folder / 'recover.sock'}",
                f"--pid-file={member.folder / 'recover.pid'}",
                "--skip-networking",
                "--wsrep-recover",
                "--wsrep-on=ON",
                f"--wsrep-provider={galera_library()}",
                f"--wsrep-cluster-address={self._address}",
                f"--wsrep-sst-method={SST}",
                "--binlog-format=ROW",
                "--innodb-autoinc-lock-mode=2",
            ],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=RECOVER_SECONDS,
            check=False,
        )
        found = _POSITION.findall(done.stdout + done.stderr)
        if not found:
            raise DatabaseUnavailable(f"{member.name} recovers no position: {done.stderr[-500:]}")
        return str(found[-1])
