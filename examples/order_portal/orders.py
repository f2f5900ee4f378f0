"""A staff portal: log in, open an order, press the button once, and prove that it took.

    python examples/demo_site --port 8000 &
    export PORTAL_USER=demo PORTAL_PASSWORD=demo
    python launcher.py enqueue examples/order_portal/orders.csv --task process_order \
        --tasks examples/order_portal/orders.py --dedupe 'order-{order}'
    python launcher.py --workers 2 --tasks examples/order_portal/orders.py

The password is in the environment and never in a payload, which is kept, shown and exported.
"""

import os
from dataclasses import dataclass

from nightshift import Fail, task


@dataclass
class Order:
    portal: str
    order: int


@task("process_order", timeout=60)
def process_order(page, payload: Order, job):
    log_in(page, payload.portal)
    job.step("logged in")

    page.goto(f"{payload.portal}/orders/{payload.order}")
    if page.locator(f"[data-order='{payload.order}']").count() == 0:
        raise Fail(f"the portal has no order {payload.order}")
    # An attempt that died after the click has done its work: look before pressing again.
    is_open = page.locator(".state").inner_text() == "open"
    if is_open:
        job.step("about to process")
        page.get_by_role("button", name="Mark as processed").click()
        page.locator(".state", has_text="processed").wait_for()
        job.step("processed")
    return {
        "order": payload.order,
        "customer": page.locator(".customer").inner_text(),
        "amount": page.locator("dd.amount").inner_text(),
        "was_open": is_open,
    }


def log_in(page, portal):
    page.goto(f"{portal}/login")
    page.get_by_label("User name").fill(os.environ["PORTAL_USER"])
    page.get_by_label("Password").fill(os.environ["PORTAL_PASSWORD"])
    page.get_by_role("button", name="Log in").click()
    if page.get_by_role("alert").is_visible():
        raise Fail(f"the portal refuses the log-in: {page.get_by_role('alert').inner_text()}")
