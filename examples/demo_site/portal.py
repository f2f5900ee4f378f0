"""The staff portal: a log-in, a list of orders, and a button that may be pressed once.

Processing an order twice is refused and leaves the first one standing, so that a task which
runs twice is caught here, outside the queue.
"""

from __future__ import annotations

import secrets
import threading
from dataclasses import dataclass

from examples.demo_site.exchange import Request, Response, redirect, small_number
from examples.demo_site.markup import badge, escape, layout

# User name and password are no secret: the log-in page shows both.
CREDENTIALS = ("demo", "demo")


@dataclass(frozen=True, slots=True)
class Order:
    """What a customer ordered; whether it is processed is the portal's to know."""

    id: int
    customer: str
    item: str
    amount: str


_ORDERS = (
    ("Ada Lindqvist", "Harbour Lantern", "49.90"),
    ("Bruno Carvalho", "Enamel Watch Mug (2)", "29.00"),
    ("Chioma Okafor", "Station Clock", "89.00"),
    ("Dmitri Волков", "Atlas of Night Trains", "42.00"),
    ("<b>Bold</b> & Sons", "Lamp <Zero>", "56.00"),
    ("Emi Tanaka", "Balcony Refractor", "189.00"),
    ("Farid Haddad", "Depot Blanket", "59.00"),
    ("Greta Ólafsdóttir", "Window Bench", "145.00"),
    ("Hugo Marchetti", "Twin Alarm", "33.00"),
    ("Ines O'Neill", "Pocket Hourglass (3)", "38.70"),
    ("Jonas Weiß", "Desk Planetarium", "99.00"),
    ("Kavya Raman", "Moonrise Bulb (4)", "63.60"),
)

ORDERS = {number: Order(number, *row) for number, row in enumerate(_ORDERS, start=1001)}


class Portal:
    """Sessions and processed orders of one server; every method may be called by any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sessions: set[str] = set()
        self._processed: set[int] = set()

    def get(self, request: Request) -> Response | None:
        """Answer a page view; None if the path is not the portal's."""
        match request.parts:
            case ["login"]:
                return _login_page()
            case ["logout"]:
                return self._log_out(request)
            case ["orders", *rest]:
                return self._orders(rest) if self._knows(request) else redirect("/login")
        return None

    def post(self, request: Request) -> Response | None:
        """Answer a form; None if nothing at this path takes one."""
        match request.parts:
            case ["login"]:
                return self._log_in(request)
            case ["orders", text, "process"] if order := ORDERS.get(small_number(text) or 0):
                return self._process(order) if self._knows(request) else redirect("/login")
        return None

    def _knows(self, request: Request) -> bool:
        with self._lock:
            return request.cookies.get("session") in self._sessions

    def _log_in(self, request: Request) -> Response:
        user, password = request.form.get("username", ""), request.form.get("password", "")
        if (user, password) != CREDENTIALS:
            return _login_page(user, "User name or password is wrong.", 401)
        token = secrets.token_urlsafe(16)
        with self._lock:
            self._sessions.add(token)
        cookie = f"session={token}; Path=/; HttpOnly; SameSite=Lax"
        return redirect("/orders", 303, ("Set-Cookie", cookie))

    def _log_out(self, request: Request) -> Response:
        with self._lock:
            self._sessions.discard(request.cookies.get("session", ""))
        return redirect("/login", 303, ("Set-Cookie", "session=; Path=/; Max-Age=0"))

    def _orders(self, rest: list[str]) -> Response | None:
        with self._lock:
            processed = frozenset(self._processed)
        match rest:
            case []:
                return _order_list(processed)
            case [text] if order := ORDERS.get(small_number(text) or 0):
                return _order_page(order, order.id in processed)
        return None

    def _process(self, order: Order) -> Response:
        with self._lock:
            is_new = order.id not in self._processed
            self._processed.add(order.id)
        if is_new:
            return redirect(f"/orders/{order.id}")
        return _order_page(order, True, "This order had been processed already.", 409)


def _login_page(user: str = "", notice: str = "", status: int = 200) -> Response:
    main = f"""<h1>Staff log-in</h1>
<p class="lead">Log in as <code>demo</code> with the password <code>demo</code>.</p>
<form class="panel narrow" method="post" action="/login">
{_notice(notice)}<label>User name
<input name="username" autocomplete="username" value="{escape(user)}" required></label>
<label>Password
<input name="password" type="password" autocomplete="current-password" required></label>
<button type="submit">Log in</button>
</form>"""
    return Response(layout("Log in · The Night Shop", main), status)


def _order_list(processed: frozenset[int]) -> Response:
    rows = "\n".join(
        f'<tr data-order="{order.id}"><td><a href="/orders/{order.id}">{order.id}</a></td>'
        f"<td>{escape(order.customer)}</td><td>{escape(order.item)}</td>"
        f'<td class="amount">€ {order.amount}</td><td>{_state(order.id in processed)}</td></tr>'
        for order in ORDERS.values()
    )
    main = f"""<h1>Orders</h1>
<p class="lead">{len(ORDERS) - len(processed)} open, {len(processed)} processed ·
<a href="/logout">Log out</a></p>
<div class="panel"><table>
<thead><tr><th>Order</th><th>Customer</th><th>Item</th><th class="amount">Amount</th>
<th>State</th></tr></thead>
<tbody>
{rows}
</tbody></table></div>"""
    return Response(layout("Orders · The Night Shop", main))


def _order_page(order: Order, is_processed: bool, notice: str = "", status: int = 200) -> Response:
    form = f"""<form method="post" action="/orders/{order.id}/process">
<button type="submit">Mark as processed</button></form>"""
    main = f"""<p class="meta"><a href="/orders">Orders</a> / {order.id}</p>
<h1>Order {order.id}</h1>
<div class="panel" data-order="{order.id}">
{_notice(notice)}<dl>
<dt>Customer</dt><dd class="customer">{escape(order.customer)}</dd>
<dt>Item</dt><dd class="item">{escape(order.item)}</dd>
<dt>Amount</dt><dd class="amount">€ {order.amount}</dd>
<dt>State</dt><dd class="state">{_state(is_processed)}</dd>
</dl>
{"" if is_processed else form}
</div>"""
    return Response(layout(f"Order {order.id} · The Night Shop", main), status)


def _state(is_processed: bool) -> str:
    return badge("processed" if is_processed else "open")


def _notice(text: str) -> str:
    return f'<p class="notice" role="alert">{escape(text)}</p>\n' if text else ""
