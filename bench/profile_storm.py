"""`python -m bench.profile_storm`: jobs of many profiles, workers and launchers killed at random.

A real launcher drains the queue. Who holds a profile is judged outside it, by locks of the kernel
that die with their process. Exit code 1 when two held one, any hold ended unexplained for good, or
an irreversible step was taken twice.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import asdict

from bench import launched, profile_storm_task
from bench.profile_storm_audit import Findings, audit
from bench.profile_storm_plan import Plan, name_of
from bench.server import Bench, private_bench
from worker.database.client import Database
from worker.drill import finish_ledger
from worker.errors import LeaseLost, UsageError
from worker.profiles import lease_endings, store
from worker.profiles.states import State
from worker.profiles.store import NewProfile

POLL_SECONDS = 0.05
FILL_AT_ONCE = 5000
PROFILES_AN_ACCOUNT = 5
# A worker that is killed after one of the last two leaves something that may be half done; only the
# last is called irreversible.
STEPS = (None, "logged in", "submitting order", "placing order")
IRREVERSIBLE = STEPS[-1]


class Storm:
    """One storm: the queue it fills, the launcher it keeps going, and whom it kills."""

    def __init__(self, plan: Plan, bench: Bench, db: Database) -> None:
        self._plan = plan
        self._bench = bench
        self._db = db
        self._random = random.Random(plan.seed)
        self._deadline = time.monotonic() + plan.deadline_seconds
        self._launcher: subprocess.Popen[bytes] | None = None
        self.ledger = bench.folder / profile_storm_task.LEDGER
        self.log = bench.folder / "launcher.log"
        self.found = Findings()
        self.launchers = 0
        self.killed: list[int] = []

    def prepare(self) -> None:
        """Add the profiles, of accounts of five each, and the jobs."""
        (self._bench.folder / profile_storm_task.LOCKS).mkdir()
        plan = self._plan
        finish_ledger.install(self._db)
        store.add(self._db, [self._profile(n) for n in range(plan.profiles)], "storm")
        self._fill(plan.jobs)

    def rage(self) -> None:
        """Keep a launcher going until every job is settled, and kill as planned meanwhile."""
        plan = self._plan
        moments = [(self._moment(), False) for _ in range(plan.kills)]
        moments += [(self._moment(), True) for _ in range(plan.launcher_kills)]
        moments.sort(reverse=True)
        while self._unsettled() or moments:
            # A pool that was quicker than we are gets more to do: it is killed at work, or never.
            if not self._unsettled():
                self._fill(plan.jobs // 10)
            if time.monotonic() > self._deadline:
                raise RuntimeError(f"not settled in {plan.deadline_seconds:g} s")
            if self._launcher is None or self._launcher.poll() is not None:
                self._start()
            if moments and self._ends() >= moments[-1][0] and self._kill(moments[-1][1]):
                moments.pop()
            self._write_late()
            self._be_the_person()
            time.sleep(POLL_SECONDS)
        self._wait_for_checks()

    @contextmanager
    def running(self) -> Iterator[None]:
        """Whatever happens, no launcher is left afterwards."""
        try:
            yield
        finally:
            if self._launcher is not None and self._launcher.poll() is None:
                launched.stop(self._launcher)

    def _fill(self, jobs: int) -> None:
        insert = "INSERT INTO work_queue (task, payload, profile_id, account_id) VALUES "
        rows = [self._job() for _ in range(jobs)]
        for start in range(0, len(rows), FILL_AT_ONCE):
            self._db.run_statement(insert + ", ".join(rows[start : start + FILL_AT_ONCE]))

    def _profile(self, number: int) -> NewProfile:
        return NewProfile(
            name_of(number),
            account_id=f"a{number // PROFILES_AN_ACCOUNT:04}",
            folder=self._bench.folder / "profiles" / name_of(number),
            max_active_runs=2 if self._plan.is_shared(number) else 1,
        )

    def _job(self) -> str:
        number = self._random.randrange(self._plan.profiles)
        step = self._random.choice(STEPS)
        is_order = step == IRREVERSIBLE
        seconds = 0.1 if is_order else 0.02
        payload = {"step": step, "irreversible": is_order, "max_seconds": seconds}
        profile, account = f"'{name_of(number)}'", "NULL"
        if self._random.random() < 0.1:
            # Whichever of the account's profiles is ready.
            profile, account = "NULL", f"'a{number // PROFILES_AN_ACCOUNT:04}'"
        return f"('stormy', '{json.dumps(payload)}', {profile}, {account})"

    def _moment(self) -> int:
        """Say after how many ended jobs to kill: neither at once nor when all is over."""
        return self._random.randint(self._plan.jobs // 50, self._plan.jobs * 19 // 20)

    def _start(self) -> None:
        with self.log.open("ab") as log:
            self._launcher = subprocess.Popen(
                launched.command(
                    self._bench,
                    self._plan.workers,
                    str(profile_storm_task.__file__),
                    *("--if-locked", "wait", "--max-attempts", "9"),
                ),
                env=launched.environment(
                    self._bench,
                    **{profile_storm_task.FOLDER_VARIABLE: str(self._bench.folder)},
                ),
                stdout=log,
                stderr=log,
            )
        self.launchers += 1

    def _kill(self, is_launcher: bool) -> bool:
        assert self._launcher is not None
        if is_launcher:
            self._launcher.kill()
            self._launcher.wait()
            return True
        living = launched.living_workers(self._db, self._launcher)
        victims = list(living)
        if len(self.killed) % 2:
            # Every other one dies at an irreversible step: by chance too few would.
            ordering = self._ordering()
            victims = [incarnation for incarnation in living if incarnation in ordering]
        if not victims:
            return False
        incarnation = self._random.choice(victims)
        pid = living[incarnation]
        os.kill(pid, signal.SIGKILL)
        self.killed.append(incarnation)
        return True

    def _ordering(self) -> set[int]:
        rows = self._db.run_statement(
            "SELECT incarnation FROM work_queue "
            "WHERE status = 'in_progress' AND irreversible_step IS NOT NULL"
        )
        return {row["incarnation"] for row in rows}

    def _write_late(self) -> None:
        """Write as a holder that was taken for dead: under a fence that another has followed."""
        number = self._random.randrange(self._plan.profiles)
        name = name_of(number)
        if self._plan.is_shared(number):
            return
        old = store.get(self._db, name)["fence"] - 1
        if old < 1:
            return
        try:
            lease_endings.release(self._db, name, old, author="a ghost", reason="late")
        except LeaseLost:
            self.found.late_writes_refused += 1
        else:
            self.found.late_writes_accepted.append(f"{name}, fence {old}")

    def _be_the_person(self) -> None:
        """Look at what was set aside, as somebody would in the morning, and clear it."""
        rows = self._db.run_statement(
            "SELECT id FROM profiles WHERE state IN ('review_required', 'quarantined')"
        )
        for row in rows:
            try:
                store.set_state(
                    self._db, row["id"], State.AVAILABLE, reason="looked at", by="the person"
                )
            except UsageError as error:
                print(error, file=sys.stderr)

    def _wait_for_checks(self) -> None:
        """Let the last stale profiles be checked: the workers do that while they live."""
        stale = "SELECT id FROM profiles WHERE state <> 'available'"
        self._db.run_statement(
            "INSERT INTO work_queue (task, payload, profile_id) SELECT 'stormy', "
            """'{"step": null, "max_seconds": 0}', id FROM profiles """
            "WHERE state = 'stale'"
        )
        while self._unsettled() or self._db.run_statement(stale):
            if time.monotonic() > self._deadline:
                return
            if self._launcher is None or self._launcher.poll() is not None:
                if not self._unsettled():
                    return
                self._start()
            self._be_the_person()
            time.sleep(POLL_SECONDS)

    def _unsettled(self) -> bool:
        return bool(
            self._db.run_statement(
                "SELECT 1 FROM work_queue WHERE status IN ('pending', 'in_progress') LIMIT 1"
            )
        )

    def _ends(self) -> int:
        return self.ledger.read_bytes().count(b"end ") if self.ledger.exists() else 0


def run(plan: Plan, *, as_json: bool) -> int:
    """Let one storm rage on a private server; print what came of it and return the exit code."""
    with private_bench() as bench, closing(Database(bench.database)) as db:
        storm = Storm(plan, bench, db)
        storm.prepare()
        began = time.monotonic()
        try:
            with storm.running():
                storm.rage()
        except RuntimeError as error:
            print(*launched.tail(storm.log), error, sep="\n", file=sys.stderr)
        seconds = time.monotonic() - began
        audit(db, storm.ledger, plan.shared, storm.found)
    report = {
        "server": bench.version,
        "seconds": round(seconds, 1),
        "launchers": storm.launchers,
        "workers_killed": len(storm.killed),
        **asdict(plan),
        **asdict(storm.found),
    }
    print(json.dumps(report) if as_json else render(report, storm.found))
    return 0 if not storm.found.problems else 1


def render(report: dict[str, object], found: Findings) -> str:
    """Say it, a fact a line."""
    lines = [
        f"storm on {report['server']}: {report['profiles']} profiles, {report['workers']} workers, "
        f"{report['workers_killed']} of them and {report['launcher_kills']} launchers killed in "
        f"{report['seconds']} s (seed {report['seed']})",
        f"  jobs                        {found.jobs:>7,}",
        f"  done                        {found.done:>7,}",
        f"  error, with its reason      {found.errors:>7,}",
        f"  irreversible steps taken    {found.orders:>7,}",
        f"    then broken off           {found.half_done:>7,}, never tried again",
        f"  leases                      {found.leases:>7,}",
        f"  ended without explanation   {found.unexplained_endings:>7,}",
        f"    checked, then available   {found.checked:>7,}",
        f"    set aside for a person    {found.set_aside:>7,}",
        f"  conflicts at the gate       {found.conflicts:>7,}",
        f"  writes under an old fence   {found.late_writes_refused:>7,} refused",
    ]
    for name, items in found.problems.items():
        lines.append(f"  {name.replace('_', ' '):<28}{len(items):>7,}  {items[:5]}")
    lines.append("NOT CLEAN" if found.problems else "clean: never two holders, nothing done twice")
    return "\n".join(lines)


def main() -> int:
    """Read the options and run."""
    parser = argparse.ArgumentParser(prog="bench.profile_storm", description=__doc__)
    parser.add_argument("--jobs", type=int, default=20_000)
    parser.add_argument("--profiles", type=int, default=500)
    parser.add_argument("--workers", type=int, default=6)
    parser.add_argument("--kills", type=int, default=60, help="workers to kill")
    parser.add_argument("--launcher-kills", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deadline", type=float, default=1800.0, help="seconds")
    parser.add_argument("--json", action="store_true", help="print JSON")
    options = vars(parser.parse_args())
    as_json, deadline = options.pop("json"), options.pop("deadline")
    return run(Plan(**options, deadline_seconds=deadline), as_json=as_json)


if __name__ == "__main__":
    sys.exit(main())
