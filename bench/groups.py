"""The groups of rows of `make bench`: which bench measures each, and how much time it gets."""

from __future__ import annotations

from dataclasses import dataclass

# What a group is compared with, or measured as; and the target, as its row writes it.
Targets = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that one command measures.

    `seconds` is for its rounds, fewer when others took longer; `fixed` is what it takes beside
    them, or in all if it does a fixed amount of work.
    """

    name: str
    title: str
    module: str
    flags: tuple[str, ...]
    seconds: float
    fixed: float
    targets: Targets = ()
    # Runs on MySQL 9.7 instead of the system's server.
    on_mysql: bool = False
    # Ends by itself, and until then takes whatever time is left.
    takes_the_rest: bool = False

    @property
    def whole(self) -> float:
        """The seconds from its start to its end, as a rule."""
        return self.seconds + self.fixed

    @property
    def limit(self) -> float:
        """After so many seconds it is stuck."""
        return 2 * self.whole + 30

    @property
    def command(self) -> str:
        """Write what a person types for these rows alone."""
        server = "NIGHTSHIFT_MYSQLD=.local/mysql-9.7/mysqld " if self.on_mysql else ""
        return f"{server}{' '.join(('python -m', self.module, *self.flags))}"


_LIMIT = ("one bare two-row UPDATE a job: the limit", "≥ 0.7")
_RAW = ("bare Playwright, a context each", "≥ 0.97")

# The cheap ones and those of most weight first; the last one takes what time there is.
GROUPS = (
    Group(
        "claims", "Claim and finish", "bench.claims", (), 50, 15,
        (_LIMIT, ("the textbook way", "≥ 3"), ("SKIP LOCKED", "≥ 2"), ("one slot stuck", "≥ 5")),
    ),
    Group(
        "claims-mysql", "Claim and finish, MySQL 9.7", "bench.claims", ("--only-limit",), 18, 20,
        (_LIMIT,), on_mysql=True,
    ),
    Group("claim-cpu", "Processor time of a no-op job", "bench.claim_cpu", (), 20, 8),
    Group("failures", "Failures", "bench.failures", (), 12, 12, (("done/s", "≥ 0.6"),)),
    Group("recovery", "Recovery", "bench.recovery", (), 0, 22, (("kill -9", "< 1.5 s"),)),
    Group(
        "upkeep", "Upkeep of an idle pool", "bench.upkeep", (), 0, 52,
        (("launcher and heart", "< 0.5 %"), ("server", "< 1 %")),
    ),
    Group(
        "upkeep-mysql", "Upkeep of an idle pool, MySQL 9.7", "bench.upkeep", ("--only-server",),
        0, 56, (("server", "< 1 %"),), on_mysql=True,
    ),
    Group(
        "first-page", "Start", "bench.first_page", (), 24, 9,
        (("six raw Playwright scripts", "≤ 1.05"),),
    ),
    Group(
        "pages-2", "Pages, 2 workers", "bench.pages", ("--workers", "2", "--only", "ordinary"),
        42, 20,
        (_RAW, ("one page", "≥ 0.85"), ("Crawlee, page", "≥ 2"), ("Crawlee, context", "≥ 1.2")),
    ),
    Group(
        "pages-4", "Pages, 4 workers", "bench.pages", ("--workers", "4", "--only", "contexts"),
        20, 18, (_RAW,),
    ),
    Group(
        "pages-slow", "Pages, a worker a core", "bench.pages", ("--only", "slow"), 26, 12,
        (("isolation=page", "≥ 0.95"),),
    ),
    Group(
        "makespan", "Makespan", "bench.makespan", (), 0, 94,
        tuple(
            (name, "≤ 1.1")
            for name in ("even", "one slot slower", "3 hosts", "steps of 3")
        ),
    ),
    Group(
        "latency", "Claim latency", "bench.latency", (), 60, 8,
        (("p50", "≤ 1.2"), ("p99", "≤ 1.2")),
    ),
    Group(
        "peers", "What a user would pick instead", "bench.peers", (), 0, 95,
        (("the best", "≥ 3"),),
    ),
    Group(
        "elsewhere", "Browsers elsewhere", "bench.elsewhere", (), 0, 34,
        (("throughput back", "< 5 s"),),
    ),
    Group("page-cpu", "Processor time of a page", "bench.page_cpu", (), 24, 12),
    Group(
        "enqueue", "Enqueue", "bench.enqueue", ("--rounds", "1"), 0, 55,
        (("raw bulk INSERT", "≥ 0.8"), ("memory", "< 10 MB")),
    ),
    Group("export", "Export", "bench.export", (), 62, 8, (("raw unbuffered SELECT", "≥ 0.5"),)),
    Group(
        "dashboard", "Dashboard", "bench.dashboard", ("--rounds", "20"), 0, 80,
        (("p95", "< 100 ms"),),
    ),
    Group("page-growth", "How cost grows: pages", "bench.page_growth", (), 20, 25),
    Group("growth", "How cost grows: jobs", "bench.growth", (), 28, 32),
    Group(
        "auto-workers", "Workers found by the run", "bench.auto_workers", (), 90, 65,
        (("busy site", "≤ 1.1"), ("slow site", "≤ 1.1")),
    ),
    Group(
        "memory", "Memory, and upkeep of a busy pool", "bench.memory", ("--pages", "2000"), 230, 15,
        (("200 pages", "≤ 1.1"), ("launcher and heart", "< 2 %")), takes_the_rest=True,
    ),
)  # fmt: skip
