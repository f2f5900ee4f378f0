"""*Reports*: what `--report-to` has written."""

from __future__ import annotations

from flask import Blueprint, Response, abort, render_template

from worker.dashboard import report_files
from worker.dashboard.services import facts, services, told_at

pages = Blueprint("reports", __name__)


@pages.get("/reports")
def page() -> str:
    """List the reports, the latest first."""
    told_at(facts().at)
    folder = services().config.reports_dir
    return render_template("reports.html", folder=folder, files=report_files.listed(folder))


@pages.get("/reports/<name>")
def report(name: str) -> Response:
    """Send one report, kept apart from the dashboard itself."""
    html = report_files.read(services().config.reports_dir, name)
    if html is None:
        abort(404, "There is no such report.")
    answer = Response(html, content_type="text/html; charset=utf-8")
    answer.headers["Content-Security-Policy"] = report_files.policy_of(html)
    return answer
