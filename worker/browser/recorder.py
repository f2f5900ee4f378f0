"""Remember what the browser said during one job: console, errors, responses, dialogs.

Everything is bounded, redacted at the door, and gathered by handlers that neither raise nor
ask the browser anything: a handler that waited could hang the job it watches.
"""

from __future__ import annotations

import time
import weakref
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from playwright.sync_api import (
    BrowserContext,
    ConsoleMessage,
    Dialog,
    Frame,
    Page,
    Request,
    Response,
    WebError,
)

from worker.browser.listening import listen
from worker.browser.own_pages import OwnPages
from worker.evidence.redaction import redact_headers, redact_text, redact_url

MAX_CONSOLE = 200
MAX_FAILED = 50
MAX_RESPONSES = 30
MAX_DIALOGS = 20
MAX_PENDING = 50
MAX_TEXT = 4000

# What explains a refusal, a redirect or a cache; cookies are kept only as "there was one".
KEPT_HEADERS = frozenset(
    {
        "age", "cache-control", "cf-cache-status", "cf-mitigated", "cf-ray", "content-length",
        "content-type", "date", "location", "proxy-authenticate", "retry-after", "server",
        "set-cookie", "via",
        "www-authenticate", "x-amzn-requestid", "x-cache", "x-datadome", "x-request-id",
        "x-robots-tag",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class MainResponse:
    """The last answer for the page's own document; `headers` are the kept ones, lower case.

    `asked` is the address that led there, before any redirect, and `method` how it was asked for.
    """

    status: int
    url: str
    headers: dict[str, str] = field(default_factory=dict)
    asked: str = ""
    method: str = "GET"


class Recorder:
    """The ring buffers of one job; `reset` empties them for the next."""

    def __init__(self) -> None:
        # Whether a request has failed because its job blocks such; set by whoever knows.
        self.is_blocked: Callable[[BrowserContext | None, Request], bool] = lambda *_: False
        self._context: BrowserContext | None = None
        self._beside: weakref.WeakSet[BrowserContext] = weakref.WeakSet()
        self._page: Page | None = None
        self._heard: weakref.WeakSet[BrowserContext] = weakref.WeakSet()
        self.own_pages = OwnPages()
        self.reset()

    def reset(self) -> None:
        """Forget the last job."""
        self._started = time.monotonic()
        self.console: deque[dict[str, Any]] = deque(maxlen=MAX_CONSOLE)
        self.failed_requests: deque[dict[str, Any]] = deque(maxlen=MAX_FAILED)
        self.responses: deque[dict[str, Any]] = deque(maxlen=MAX_RESPONSES)
        self.dialogs: deque[dict[str, Any]] = deque(maxlen=MAX_DIALOGS)
        self._pending: dict[Request, dict[str, Any]] = {}
        self.main_response: MainResponse | None = None
        self._beside.clear()
        self.own_pages.end()
        self._answers_beside: dict[Page, MainResponse] = {}
        self.last_url: str | None = None
        # Where the page's own document could not be had; not for texts, since it is whole.
        self.main_failure: str | None = None
        self.is_page_crashed = False
        self.is_disconnected = False
        self.lost_events = 0
        self.blocked_requests = 0

    def listen(self, context: BrowserContext, page: Page) -> None:
        """Subscribe to a new page, and to its context if that is new too."""

        on = self._listener(context)
        on(page, "framenavigated", self._on_navigated)
        on(page, "crash", self._on_crash)
        if context not in self._heard:
            self._heard.add(context)
            self._listen_to(context)

    def listen_beside(self, context: BrowserContext) -> None:
        """Subscribe to a context that the running job's task has opened: until the job is over."""
        self._beside.add(context)
        self._listen_to(context)

    def _listener(self, context: BrowserContext) -> Callable[..., None]:
        def on(target: Any, event: str, handle: Callable[..., None]) -> None:
            def handler(*arguments: Any) -> None:
                if self._context is context or context in self._beside:
                    self._guarded(handle, arguments)

            listen(target, event, handler)

        return on

    def _listen_to(self, context: BrowserContext) -> None:
        on = self._listener(context)
        on(context, "console", self._on_console)
        on(context, "weberror", self._on_page_error)
        on(context, "request", self._on_request)
        on(context, "response", self._on_response)
        on(context, "requestfinished", self._on_request_finished)
        on(context, "requestfailed", self._on_request_failed)
        # The dialog's end is listened for, not its opening: whoever listens for that must
        # answer it, and would take the answer away from the task or from Playwright.
        on(context, "dialogclosed", self._on_dialog)

    def focus(self, context: BrowserContext | None, page: Page | None) -> None:
        """Record from this context only; late events of others are ignored."""
        self._context = context
        self._page = page

    def mark_disconnected(self, *_: Any) -> None:
        """Note that the browser is gone."""
        self.is_disconnected = True

    def has_crashed(self, page: Page) -> bool:
        """Whether this is the job's page and has crashed."""
        return self.is_page_crashed and page is self._page

    def answer_of(self, page: Page | None) -> MainResponse | None:
        """The last answer for the document of the job's page, or of one that its task opened."""
        if page is None or page is self._page:
            return self.main_response
        return self._answers_beside.get(page)

    def console_text(self) -> str:
        """The console as text, an entry a line."""
        lines = [
            f"{entry['at']:9.3f} {entry['type']:<9} {entry['text']}  {entry['where']}".rstrip()
            for entry in tuple(self.console)
        ]
        # A message of several lines stays one entry: only entries start with a digit.
        return "".join(line.replace("\n", "\n          | ") + "\n" for line in lines)

    def network(self) -> dict[str, Any]:
        """Everything about the network, ready for JSON.

        `blocked_requests` counts what was not asked for, if anything was to be blocked. `pending`
        are the requests that have not ended: with `status` null nothing has come at all,
        otherwise the rest of the answer is missing.
        """
        blocked = {"blocked_requests": self.blocked_requests} if self.blocked_requests else {}
        return {
            **blocked,
            "pending": list(self._pending.values()),
            "responses": list(self.responses),
            "failed_requests": list(self.failed_requests),
        }

    def _guarded(self, handle: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        try:
            handle(*arguments)
        except Exception:  # noqa: BLE001 - it would surface in whatever call the task makes.
            self.lost_events += 1

    def _at(self) -> float:
        return round(time.monotonic() - self._started, 3)

    def _on_console(self, message: ConsoleMessage) -> None:
        place = message.location
        self.console.append(
            {
                "at": self._at(),
                "type": message.type,
                "text": redact_text(message.text[:MAX_TEXT]),
                "where": f"{redact_url(place['url'])}:{place.get('lineNumber', 0)}",
            }
        )

    def _on_page_error(self, error: WebError) -> None:
        problem = error.error
        text = problem.stack or str(problem)
        self.console.append(
            {
                "at": self._at(),
                "type": "pageerror",
                "text": redact_text(text[:MAX_TEXT]),
                "where": "",
            }
        )

    def _on_request(self, request: Request) -> None:
        # The first ones are kept: the page's own document is among them.
        if len(self._pending) < MAX_PENDING:
            self._pending[request] = {
                "since": self._at(),
                "status": None,
                "method": request.method,
                "type": request.resource_type,
                "url": redact_url(request.url),
            }

    def _on_request_finished(self, request: Request) -> None:
        self._pending.pop(request, None)

    def _on_response(self, response: Response) -> None:
        request = response.request
        headers = redact_headers(
            {name: text for name, text in response.headers.items() if name in KEPT_HEADERS}
        )
        url = redact_url(response.url)
        at, took = self._at(), {}
        if (waiting := self._pending.get(request)) is not None:
            waiting["status"] = response.status
            # Until the answer's head was there.
            took = {"took": round(at - waiting["since"], 3)}
        self.responses.append(
            {
                "at": at,
                **took,
                "status": response.status,
                "method": request.method,
                "type": request.resource_type,
                "url": url,
                "headers": headers,
            }
        )
        if request.is_navigation_request() and request.frame.parent_frame is None:
            first = _first_of(request)
            asked = url if first is request else redact_url(first.url)
            answer = MainResponse(response.status, url, headers, asked, first.method)
            if request.frame is self._main_frame():
                self.main_response = answer
            elif (page := request.frame.page).context in self._beside:
                self._answers_beside[page] = answer

    def _on_request_failed(self, request: Request) -> None:
        self._pending.pop(request, None)
        if request.is_navigation_request() and request.frame is self._main_frame():
            self.main_failure = request.url
        if self.is_blocked(self._context, request):
            # They would push out those that nobody has asked for.
            self.blocked_requests += 1
            return
        self.failed_requests.append(
            {
                "at": self._at(),
                "method": request.method,
                "type": request.resource_type,
                "url": redact_url(request.url),
                "failure": request.failure,
            }
        )

    def _on_dialog(self, dialog: Dialog) -> None:
        self.dialogs.append(
            {
                "at": self._at(),
                "type": dialog.type,
                "message": redact_text(dialog.message[:MAX_TEXT]),
            }
        )

    def _on_navigated(self, frame: Frame) -> None:
        if frame is self._main_frame():
            self.last_url = redact_url(frame.url)
            self.own_pages.forget()

    def _on_crash(self, *_: Any) -> None:
        self.is_page_crashed = True

    def _main_frame(self) -> Frame | None:
        return self._page.main_frame if self._page is not None else None


def _first_of(request: Request) -> Request:
    """Go back to the request that was redirected to this one; browsers follow 20 at most."""
    while (earlier := request.redirected_from) is not None:
        request = earlier
    return request
