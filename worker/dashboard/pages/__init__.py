"""The pages, one module each: what they ask of the rooms below, and the actions they offer."""

from worker.dashboard.pages import (
    api,
    audit,
    errors,
    health,
    job,
    jobs,
    limits,
    live,
    overview,
    pause,
    profiles,
    queues,
    reports,
    sign_in,
    timeline,
    workers,
)

ALL_PAGES = tuple(
    module.pages
    for module in (
        overview, live, errors, jobs, job, queues, workers, timeline, profiles, limits, reports,
        audit, pause, sign_in, health, api,
    )
)  # fmt: skip
