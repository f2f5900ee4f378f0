"""The world of a cluster's drill: network, members, HAProxy, a queue and a demo site."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from worker.database import migrations
from worker.database.client import Database
from worker.database.server_binary import ServerBinary
from worker.database_settings import DatabaseSettings
from worker.drill import finish_ledger
from worker.drill.cluster import needs, network
from worker.drill.cluster.cluster import MEMBERS, Cluster
from worker.drill.cluster.galera import GaleraCluster
from worker.drill.cluster.group import GroupCluster, MultiPrimaryCluster
from worker.drill.cluster.haproxy import HAProxy
from worker.drill.cluster.member import Member
from worker.drill.cluster.network import Network
from worker.drill.world import USER, World, abandoned_folders, create_users, demo_site, new_folder

KINDS: dict[str, Callable[[Path, Path, Network, ServerBinary], Cluster]] = {
    "galera": GaleraCluster,
    "group": GroupCluster,
    "group-multi": MultiPrimaryCluster,
}
SOCKETS = "nsd-"


@dataclass(frozen=True, slots=True)
class ClusterWorld(World):
    """A world with three members, and HAProxy before them."""

    cluster: Cluster
    haproxy: HAProxy

    @property
    def database(self) -> DatabaseSettings:
        return DatabaseSettings(host="127.0.0.1", port=self.haproxy.port, user=USER)

    @property
    def inside(self) -> DatabaseSettings:
        return _queue_on(self.cluster.primaries()[0])

    @property
    def port(self) -> int:
        return self.haproxy.port

    def pids(self) -> set[int]:
        return {self.site_pid, self.haproxy.pid, *self.cluster.pids()}

    def revive(self) -> None:
        self.cluster.heal()
        self.haproxy.wait_until_it_serves()


@contextmanager
def cluster_world(state_dir: Path, kind: str, *, keep: bool = False) -> Iterator[ClusterWorld]:
    """Set a cluster up, and take it down again however the drill ends.

    Raises SettingsError, in one line, when this machine lacks something for it.
    """
    needs.check(kind.partition("-")[0])
    server = needs.mariadb() if kind == "galera" else needs.mysql()
    _remove_abandoned(state_dir / "drill")
    folder = new_folder(state_dir)
    sockets = Path(tempfile.gettempdir()) / f"{SOCKETS}{os.getpid()}"
    with ExitStack() as stack:
        if not keep:
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        stack.callback(shutil.rmtree, sockets, ignore_errors=True)
        sockets.mkdir(mode=0o700)
        stack.callback(network.remove, str(os.getpid()))
        net = Network(MEMBERS)
        cluster = KINDS[kind](folder / "cluster", sockets, net, server)
        stack.enter_context(closing(cluster))
        cluster.bring_up()
        _create_queue(cluster)
        haproxy = stack.enter_context(closing(HAProxy(cluster, folder, sockets)))
        site_url, site_pid = stack.enter_context(demo_site())
        yield ClusterWorld(folder, site_url, site_pid, cluster.version, cluster, haproxy)


def _create_queue(cluster: Cluster) -> None:
    """Make the queue on one member; the others get it from there."""
    member = cluster.primaries()[0]
    settings = _queue_on(member)
    with closing(Database(member.settings)) as db:
        create_users(db, settings.database)
    with closing(Database(settings)) as db:
        migrations.migrate(db)
        finish_ledger.install(db)


def _queue_on(member: Member) -> DatabaseSettings:
    return replace(member.settings, database=DatabaseSettings().database)


def _remove_abandoned(parent: Path) -> None:
    network.remove_abandoned()
    for folder in abandoned_folders(parent):
        pid = int(folder.name.split("-")[1])
        shutil.rmtree(Path(tempfile.gettempdir()) / f"{SOCKETS}{pid}", ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)
