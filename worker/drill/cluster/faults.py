"""What is done to a cluster under fire. One fault at a time: each ends with all members whole.

How a fault reads is the same for every kind of cluster; what a primary is differs. With Galera any
member is one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from worker.database.client import DatabaseError
from worker.drill.cluster.cluster import Cluster
from worker.drill.cluster.group import GroupCluster
from worker.drill.cluster.haproxy import HAProxy
from worker.drill.cluster.member import Member
from worker.drill.cluster.world import ClusterWorld
from worker.drill.faults import Fault
from worker.drill.strike import NoTarget, Strike
from worker.errors import DatabaseUnavailable

GROUP = ("cluster",)


def table(world: ClusterWorld) -> tuple[Fault, ...]:
    """List the faults of a world's cluster, and how often each one strikes."""
    acts: dict[str, tuple[int, Callable[[Strike, ClusterWorld], None]]] = {
        "member killed": (5, kill_member),
        "member stopped": (4, stop_member),
        "member partitioned": (5, partition_member),
        "member left and rejoined": (3, restart_member),
        "primary killed": (4, kill_primary),
        "primary switched over": (4, switch_over),
        "primary left gracefully": (4, leave_gracefully),
        "quorum lost and restored": (3, lose_quorum),
    }
    return tuple(
        Fault(kind, weight, partial(_healed, act, world), GROUP)
        for kind, (weight, act) in acts.items()
    )


def kill_member(strike: Strike, world: ClusterWorld) -> None:
    """Kill a member; it recovers and rejoins."""
    _kill(strike, world.cluster, world.cluster.any_member(strike.rng))


def kill_primary(strike: Strike, world: ClusterWorld) -> None:
    """Kill a member that takes writes."""
    _kill(strike, world.cluster, _primary(strike, world.cluster))


def stop_member(strike: Strike, world: ClusterWorld) -> None:
    """Stop a member; for most of these times the others throw it out meanwhile."""
    member = world.cluster.any_member(strike.rng)
    strike.begin()
    member.stop()
    strike.last(2, 14)
    member.wake()


def partition_member(strike: Strike, world: ClusterWorld) -> None:
    """Cut a member off from the others, while clients still reach it."""
    member = world.cluster.any_member(strike.rng)
    strike.begin()
    world.cluster.network.cut(member.number)
    strike.last(3, 12)
    world.cluster.network.mend(member.number)


def restart_member(strike: Strike, world: ClusterWorld) -> None:
    """Shut a member down in order, and start it again."""
    member = world.cluster.any_member(strike.rng)
    strike.begin()
    member.shut_down()
    strike.last(1, 5)
    world.cluster.start(member)


def switch_over(strike: Strike, world: ClusterWorld) -> None:
    """Make another member the primary; with several, take one out of service for a while."""
    cluster = world.cluster
    if isinstance(cluster, GroupCluster) and cluster.has_one_primary:
        primary = _primary(strike, cluster)
        others = [member for member in cluster.members if member is not primary]
        strike.begin()
        cluster.make_primary(strike.rng.choice(others))
        strike.is_done = True
        return
    member = _primary(strike, cluster)
    strike.begin()
    world.haproxy.take_out(member)
    strike.last(2, 6)
    world.haproxy.put_back(member)


def leave_gracefully(strike: Strike, world: ClusterWorld) -> None:
    """Have a primary leave its cluster while its server goes on, and come back."""
    member = _primary(strike, world.cluster)
    strike.begin()
    world.cluster.leave(member)
    strike.last(2, 8)
    world.cluster.rejoin(member)


def lose_quorum(strike: Strike, world: ClusterWorld) -> None:
    """Cut every member off from every other: none may write until the network is back."""
    cluster = world.cluster
    strike.begin()
    for member in cluster.members:
        cluster.network.cut(member.number)
    strike.last(4, 20)
    for member in cluster.members:
        cluster.network.mend(member.number)


def _kill(strike: Strike, cluster: Cluster, member: Member) -> None:
    strike.begin()
    member.kill()
    strike.last(1, 6)
    cluster.start(member)


def _primary(strike: Strike, cluster: Cluster) -> Member:
    found = cluster.primaries()
    if not found:
        raise NoTarget
    return strike.rng.choice(found)


def _healed(
    act: Callable[[Strike, ClusterWorld], None], world: ClusterWorld, strike: Strike
) -> None:
    """Strike, and have the cluster whole again at the end, whatever the strike came to.

    A deed that the cluster refused is a miss. What a member answers late or badly afterwards is
    seen by whether it becomes whole.
    """
    try:
        act(strike, world)
    except (DatabaseError, OSError, DatabaseUnavailable) as refusal:
        if not strike.is_done:
            strike.miss = f"{type(refusal).__name__}: {refusal}"
    finally:
        _undo(world.cluster, world.haproxy)


def _undo(cluster: Cluster, haproxy: HAProxy) -> None:
    for member in cluster.members:
        member.wake()
        cluster.network.mend(member.number)
        haproxy.put_back(member)
    cluster.heal()
