"""A monitor: what a status page says, with a picture of it, as often as cron calls.

    python examples/demo_site --port 8000 &
    python launcher.py enqueue examples/status_monitor/pages.txt --task monitor
    python launcher.py --workers 1 --tasks examples/status_monitor/monitor.py
    python launcher.py export --task monitor --format csv --columns calm,trouble,picture

The pictures are results/<job>/status.png. The second and third line, in a script of their own,
are what cron calls every ten minutes.
"""

from typing import TypedDict

from nightshift import Fail, task


class Page(TypedDict):
    url: str


@task("monitor", timeout=30, max_attempts=2)
def monitor(page, payload: Page, job):
    page.goto(payload["url"])
    services = {
        tile.get_attribute("data-service"): tile.get_attribute("data-state")
        for tile in page.locator("[data-service]").all()
    }
    picture = job.attach("status.png", page.screenshot(full_page=True))
    if not services:
        raise Fail(f"{page.url} shows no services")
    trouble = sorted(name for name, state in services.items() if state != "operational")
    if trouble:
        job.log.warning("trouble with %s", ", ".join(trouble))
    return {"calm": not trouble, "trouble": trouble, "services": services, "picture": picture}
