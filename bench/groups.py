"""The groups of rows of `make bench`: which bench measures each, and how much time it gets."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that one command measures. `seconds` is for its rounds, `limit` for all of it."""

    name: str
    title: str
    module: str
    flags: tuple[str, ...]
    seconds: float
    limit: float
    # Runs on MySQL 9.7 instead of the system's server.
    on_mysql: bool = False

    @property
    def command(self) -> str:
        """Write what a person types for these rows alone."""
        server = "NIGHTSHIFT_MYSQLD=.local/mysql-9.7/mysqld " if self.on_mysql else ""
        return f"{server}{' '.join(('python -m', self.module, *self.flags))}"


# In the order of their weight: when the time is up, the last ones are left out, and say so.
GROUPS = (
    Group("claims", "Claim and finish", "bench.claims", (), 80, 150),
    Group(
        "claims-mysql", "Claim and finish, MySQL 9.7", "bench.claims", ("--only-limit",), 25, 80,
        on_mysql=True,
    ),
    Group("peers", "What a user would pick instead", "bench.peers", (), 120, 240),
    Group("latency", "Claim latency", "bench.latency", (), 90, 150),
    Group("pages-2", "Pages, 2 workers", "bench.pages", ("--workers", "2"), 110, 180),
    Group(
        "pages-4", "Pages, 4 workers", "bench.pages", ("--workers", "4", "--only", "ordinary"),
        70, 130,
    ),
    Group("first-page", "Start", "bench.first_page", (), 40, 90),
    Group("makespan", "Makespan", "bench.makespan", (), 75, 150),
    Group("recovery", "Recovery", "bench.recovery", (), 30, 90),
    Group("upkeep", "Upkeep", "bench.upkeep", (), 70, 130),
    Group("failures", "Failures", "bench.failures", (), 20, 60),
    Group("enqueue", "Enqueue", "bench.enqueue", ("--rounds", "2"), 60, 140),
    Group("export", "Export", "bench.export", (), 80, 160),
    Group("dashboard", "Dashboard", "bench.dashboard", ("--rounds", "20"), 60, 150),
    Group("auto-workers", "Workers found by the run", "bench.auto_workers", (), 170, 260),
    Group("memory", "Memory", "bench.memory", ("--pages", "2000"), 280, 400),
    Group("page-cpu", "Processor time of a page", "bench.page_cpu", (), 30, 80),
    Group("growth", "How cost grows: jobs", "bench.growth", (), 45, 120),
    Group("page-growth", "How cost grows: pages", "bench.page_growth", (), 40, 120),
)  # fmt: skip
