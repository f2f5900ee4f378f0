"""The simulated pool keeps to what can be worked out by hand at both ends."""

from __future__ import annotations

import pytest

from bench.simulation import Load, simulate


def test_few_workers_do_all_that_they_can():
    load = Load(workers=20, job_seconds=1.0, cost_seconds=0.001, cores=2)

    found = simulate(load)

    assert found.rate == pytest.approx(load.ideal, rel=0.1)
    assert found.wait_seconds < 0.0005


def test_too_many_workers_do_what_the_cores_can():
    found = simulate(Load(workers=400, job_seconds=0.1, cost_seconds=0.002, cores=2))

    assert found.rate == pytest.approx(2 / 0.002, rel=0.05)
    # Whoever does not sleep waits: by Little's law.
    assert found.wait_seconds == pytest.approx(400 / found.rate - 0.1 - 0.002, rel=0.1)


def test_the_same_load_gives_the_same_figures():
    load = Load(workers=30, job_seconds=0.5, cost_seconds=0.01, cores=1)

    assert simulate(load) == simulate(load)
    assert simulate(load) != simulate(load, seed=17)
