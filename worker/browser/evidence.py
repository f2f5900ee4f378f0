"""Leave evidence of a failed attempt in errors/<job>/<attempt>/, whatever state the page is in.

The error itself is on disk before the browser is asked anything. Capturing never raises and
keeps to its budget: what could not be had is said in error.json and in the returned outcomes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import FloatRect

from worker.browser.launch import first_line
from worker.browser.recorder import Recorder
from worker.browser.session import BrowserSession
from worker.evidence.files import new_attempt_folder
from worker.evidence.redaction import printable, redact_json, redact_text, redact_url
from worker.models import JSON
from worker.system.durable_file import write_durably

BUDGET_SECONDS = 20.0
# A step that outlives its limit costs the browser; a screenshot gives up by itself before.
STEP_SECONDS = 6.0
SHORTEST_STEP_SECONDS = 0.5
SCREENSHOT_TIMEOUT_MS = 5000
# 1920 x 20,000 px take 2.4 s, 5,000 x 20,000 px more than 5 s (measured).
SCREENSHOT_AREA: FloatRect = {"x": 0, "y": 0, "width": 1920, "height": 20_000}
MAX_HTML_BYTES = 5_000_000

OK = "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What the runner knows about a failed attempt; everything else comes from the session."""

    job_id: int
    attempt: int
    fence: int
    task: str
    payload: JSON
    outcome: str
    exception_type: str
    exception_message: str
    traceback: str
    fingerprint: str
    worker_slot: int
    incarnation: int
    run_id: str
    cause: str | None = None
    profile: str | None = None
    proxy: str | None = None
    last_step: str | None = None
    hang_stack: str | None = None
    started: str | None = None
    finished: str | None = None


def capture(
    errors_dir: Path,
    failure: Failure,
    session: BrowserSession,
    budget_seconds: float = BUDGET_SECONDS,
) -> dict[str, str]:
    """Write the evidence of one failed attempt; return the outcome of every step.

    The latest capture of an attempt is errors/<job>/<attempt>/. A folder already there (the
    attempt was handed back and its number used again) moves aside to <attempt>.1, .2 and so on.
    """
    try:
        folder = new_attempt_folder(errors_dir, failure.job_id, failure.attempt)
    except OSError as problem:
        return {"folder": f"failed: {problem}"}
    return capture_into(folder, failure, session, budget_seconds)


def capture_into(
    folder: Path,
    failure: Failure,
    session: BrowserSession,
    budget_seconds: float = BUDGET_SECONDS,
) -> dict[str, str]:
    """Write the evidence into a folder that is there; return the outcome of every step."""
    return _Capture(folder, failure, session, budget_seconds).run()


def missing(outcomes: dict[str, str]) -> dict[str, str]:
    """The steps that did not give what they should have."""
    return {step: outcome for step, outcome in outcomes.items() if outcome != OK}


class _Capture:
    """One capture: its folder, its budget and the outcomes so far."""

    def __init__(
        self, folder: Path, failure: Failure, session: BrowserSession, budget_seconds: float
    ) -> None:
        self._folder = folder
        self._failure = failure
        self._session = session
        self._deadline = time.monotonic() + budget_seconds
        self.outcomes: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        self._write("error", self._error_json)
        self._write("traceback", self._traceback_text)
        self._write("console", self._console_text)
        self._write("network", self._network_json)
        # The trace goes before the picture: while one is recorded, a screenshot of a page that
        # hangs takes six seconds longer, and asking for its HTML costs the browser its life.
        # The driver writes the trace without the page's help, in 20 ms even then (measured).
        if self._session.is_tracing:
            self._ask("trace", self._trace, needs_page=False)
        self._ask("screenshot", self._screenshot)
        self._ask("html", self._html)
        # The second writing adds the outcomes; it replaces the first only when it is complete.
        self._write("error", self._error_json)
        return self.outcomes

    def _write(self, name: str, step: Callable[[], None]) -> None:
        self.outcomes[name] = OK
        try:
            step()
        except Exception as problem:  # noqa: BLE001 - it must not hide the job's own error.
            self.outcomes[name] = f"failed: {first_line(problem)}"

    def _ask(self, name: str, step: Callable[[], None], *, needs_page: bool = True) -> None:
        """Do a step that needs the browser, within what is left of the budget."""
        left = self._deadline - time.monotonic()
        reason = self._why_not(needs_page=needs_page)
        if reason is None and left < SHORTEST_STEP_SECONDS:
            reason = "the time for evidence is over"
        if reason is not None:
            self.outcomes[name] = f"skipped: {reason}"
            return
        seconds = min(left, STEP_SECONDS)
        with self._session.limit(seconds) as limit:
            self._write(name, step)
        if limit.fired:
            self.outcomes[name] = f"failed: no answer in {seconds:.0f} s, the browser was killed"

    def _why_not(self, *, needs_page: bool) -> str | None:
        page = self._session.page
        if page is None:
            return "there was no page"
        if not self._session.is_alive:
            return "the browser is dead"
        if needs_page and self._session.recorder.is_page_crashed:
            return "the page has crashed"
        if needs_page and page.is_closed():
            return "the page is closed"
        return None

    def _screenshot(self) -> None:
        assert self._session.page is not None
        image = self._session.page.screenshot(
            timeout=SCREENSHOT_TIMEOUT_MS,
            animations="disabled",
            full_page=True,
            clip=SCREENSHOT_AREA,
        )
        write_durably(self._folder / "screenshot.png", image)

    def _html(self) -> None:
        assert self._session.page is not None
        html = self._session.page.content().encode("utf-8", "replace")
        if len(html) > MAX_HTML_BYTES:
            note = f"\n<!-- cut here: the page had {len(html)} bytes -->\n"
            html = html[:MAX_HTML_BYTES] + note.encode()
        write_durably(self._folder / "page.html", html)

    def _trace(self) -> None:
        self._session.stop_trace(self._folder / "trace.zip")

    def _traceback_text(self) -> None:
        text = self._failure.traceback
        if self._failure.hang_stack:
            text += f"\nWhere it hung:\n{self._failure.hang_stack}"
        self._save("traceback.txt", printable(redact_text(text)))

    def _console_text(self) -> None:
        lines = [
            f"{entry['at']:9.3f} {entry['type']:<9} {entry['text']}  {entry['where']}".rstrip()
            for entry in self._session.recorder.console
        ]
        # A message of several lines stays one entry: only entries start with a digit.
        text = "".join(line.replace("\n", "\n          | ") + "\n" for line in lines)
        self._save("console.log", printable(text))

    def _network_json(self) -> None:
        self._save_json("network.json", self._session.recorder.network())

    def _error_json(self) -> None:
        facts = asdict(self._failure)
        proxy = self._failure.proxy or self._session.proxy_label
        report = redact_json(
            {
                **{name: value for name, value in facts.items() if name != "traceback"},
                "profile": self._failure.profile or self._session.profile_id,
                "proxy": redact_url(proxy) if proxy else None,
                **_browser_facts(self._session.recorder, self._session),
            }
        )
        # `error` is being written now, so its own outcome would always be a guess.
        captured = {name: text for name, text in self.outcomes.items() if name != "error"}
        self._save_json("error.json", {**report, "captured": captured})

    def _save_json(self, name: str, value: Any) -> None:
        text = json.dumps(value, ensure_ascii=False, indent=2, default=str)
        self._save(name, printable(text) + "\n")

    def _save(self, name: str, text: str) -> None:
        write_durably(self._folder / name, text.encode("utf-8", "replace"))


def _browser_facts(recorder: Recorder, session: BrowserSession) -> dict[str, Any]:
    answer = recorder.main_response
    page = session.page
    # The URL is known here without asking the browser, even when the page hangs.
    final_url = redact_url(page.url) if page is not None else recorder.last_url
    return {
        "final_url": final_url,
        "status": answer.status if answer else None,
        "response_headers": answer.headers if answer else {},
        "page_crashed": recorder.is_page_crashed,
        "browser_alive": session.is_alive,
        "dialogs": list(recorder.dialogs),
        "lost_events": recorder.lost_events,
    }
