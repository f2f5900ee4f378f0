"""The requests of one job on a page that is used again: which are in flight, which are its own.

`page.requests()` by itself would also tell of the jobs before.
"""

from __future__ import annotations

from playwright.sync_api import Request, Response

from worker.browser.listening import listen
from worker.browser.tab import Tab

# These end with their page. Of the others (fetch, ping, a report) some live on, as a page may wish.
ENDS_WITH_PAGE = frozenset(
    {
        "document", "eventsource", "font", "image", "manifest", "media", "script", "stylesheet",
        "texttrack", "websocket", "xhr",
    }
)  # fmt: skip
# The server wants a login. One that is given stays with the context, and nothing takes it away.
LOGIN_WANTED = 401
# The site wants to be told more of the browser from now on, and nothing but the site takes it back.
HINTS_WANTED = frozenset({"accept-ch", "critical-ch"})


class JobRequests:
    """Follows the requests of a tab, job by job."""

    def __init__(self, tab: Tab) -> None:
        self._tab = tab
        self._of_job: set[Request] = set()
        self._in_flight: set[Request] = set()
        self._is_page_left = False
        self._all_of_page = tab.page.requests
        listen(tab.context, "request", self._on_request)
        listen(tab.context, "requestfinished", self._on_finished)
        listen(tab.context, "requestfailed", self._on_failed)
        listen(tab.context, "response", self._on_response)
        setattr(tab.page, "requests", self._own_of_page)  # noqa: B010 - a method, to the type checker.

    def begin_job(self) -> None:
        """Forget the job before."""
        self._of_job.clear()
        self._in_flight.clear()
        self._is_page_left = False

    def leave_page(self) -> None:
        """Know that the page is being left: what fails now may be answered all the same."""
        self._is_page_left = True

    @property
    def may_outlive_page(self) -> bool:
        """Whether one is in flight that may bring a cookie after the page was left."""
        return any(each.resource_type not in ENDS_WITH_PAGE for each in self._in_flight)

    def _own_of_page(self) -> list[Request]:
        return [request for request in self._all_of_page() if request in self._of_job]

    def _on_request(self, request: Request) -> None:
        self._of_job.add(request)
        self._in_flight.add(request)
        if "@" in request.url.partition("//")[2].partition("/")[0]:
            # A login in the address is kept by the browser as one that was typed.
            self._tab.wear()

    def _on_finished(self, request: Request) -> None:
        self._in_flight.discard(request)

    def _on_failed(self, request: Request) -> None:
        if not self._is_page_left:
            self._in_flight.discard(request)

    def _on_response(self, response: Response) -> None:
        if response.status == LOGIN_WANTED or not HINTS_WANTED.isdisjoint(response.headers):
            self._tab.wear()
