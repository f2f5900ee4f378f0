"""Every page of the dashboard, with what is asked of it."""

from __future__ import annotations

PAGES = [
    *(
        "/",
        "/?range=1h",
        "/?range=day",
        "/?range=week",
        "/live",
        "/errors",
        "/errors?muted=1",
        "/errors?range=all",
        "/workers",
    ),
    *("/jobs", "/jobs?state=ready", "/jobs?state=waiting", "/jobs?state=done", "/jobs?state=error"),
    *("/jobs?state=in_progress", "/jobs?text=shop", "/jobs?state=done&task=visit"),
    *("/jobs?group=3f9a1c2e00000001", "/jobs/1", "/jobs/61", "/jobs/75", "/jobs/80", "/jobs/106"),
    *("/jobs?batch=monday", "/jobs?batch=monday&state=ready", "/jobs?parent=1", "/jobs?queue=slow"),
    *(
        "/queues",
        "/queues/batches",
        "/runs/2",
        "/timeline",
        "/timeline?range=3d",
        "/timeline?until={ago}",
        "/timeline?range=24h&until={ago}",
        "/timeline?range=3d&until={ago}",
        "/timeline?range=30m&until={ago}",
        "/profiles",
        "/limits",
        "/audit",
        "/reports",
    ),
    *(
        "/api/v1/status",
        "/api/v1/errors",
        "/api/v1/queues",
        "/api/v1/jobs",
        "/api/v1/jobs/61",
        "/api/v1/runs",
    ),
]
