"""Leave evidence of a failed attempt in errors/<job>/<attempt>/, whatever state the page is in.

The error itself is on disk before the browser is asked anything. Capturing never raises and
keeps to its budget: what could not be captured is named in error.json and in the returned outcomes.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from playwright.sync_api import Error as PlaywrightError

from worker.browser import (
    before_after,
    evidence_facts,
    failure_screenshot,
    good_page,
    hung_page,
    trace_file,
)
from worker.browser.evidence_facts import shown_page
from worker.browser.failed_attempt import Failure
from worker.browser.launch import first_line
from worker.browser.session import BrowserSession
from worker.evidence.good_pages import html_of
from worker.evidence.html_secrets import mask_html
from worker.evidence.known_secrets import mask, mask_json
from worker.evidence.pictures import FAILURE
from worker.evidence.redaction import redact_json, redact_text, redact_url
from worker.evidence.terminal_text import printable
from worker.system.durable_file import write_durably

BUDGET_SECONDS = 20.0
# A step that outlives its limit costs the browser; a screenshot gives up by itself before.
STEP_SECONDS = 6.0
SHORTEST_STEP_SECONDS = 0.5
# Two probes of a second each, and some time for the requests between them.
ANSWER_SECONDS = 4.0
MAX_HTML = 5_000_000
# A busy machine masks twice as much (measured).
MASKED_PER_SECOND = 500_000

OK = "ok"


def capture_into(
    folder: Path,
    failure: Failure,
    session: BrowserSession,
    budget_seconds: float = BUDGET_SECONDS,
    *,
    last_good: dict[str, Any] | None = None,
) -> dict[str, str]:
    """Write the evidence into a folder that is there; return the outcome of every step.

    `last_good` tells of the good page that is in the folder already: it is compared with.
    """
    return _Capture(folder, failure, session, budget_seconds, last_good).run()


def missing(outcomes: dict[str, str]) -> dict[str, str]:
    """The steps that did not give what they should have."""
    return {step: outcome for step, outcome in outcomes.items() if outcome != OK}


class _Capture:
    """One capture: its folder, its budget and the outcomes so far."""

    def __init__(
        self,
        folder: Path,
        failure: Failure,
        session: BrowserSession,
        budget_seconds: float,
        last_good: dict[str, Any] | None,
    ) -> None:
        self._folder = folder
        self._failure = failure
        self._session = session
        self._deadline = time.monotonic() + budget_seconds
        self._times = evidence_facts.times(failure.seconds)
        self._mute: str | None = None
        self._html = self._masked = ""
        self._last_good = last_good
        self.outcomes: dict[str, str] = {}

    def run(self) -> dict[str, str]:
        self._write("error", self._error_json)
        self._write("traceback", self._traceback_text)
        # The trace is ended first: while one is recorded, every call takes six seconds longer on a
        # page that hangs. The driver writes it without the page's help, in 20 ms (measured).
        if self._session.tab is not None and self._session.tab.is_tracing:
            self._ask("trace", self._stop_trace, needs_page=False)
            if self.outcomes["trace"] == OK:
                self._write("trace", self._keep_trace)
        self._session.hear_events()
        self._write("console", self._console_text)
        self._write("network", self._network_json)
        self._make_answer()
        self._ask("screenshot", self._screenshot)
        self._ask("html", self._read_html)
        if self.outcomes["html"] == OK:
            # A large page takes a moment to mask: that is no fault of the browser.
            self._write("html", self._keep_html)
            if self._last_good is not None and len(self._html) <= good_page.MAX_HTML:
                self._ask("comparison", self._compare)
        # Last, because it is what a page can make slow, and nothing else may wait for it.
        if self.outcomes["screenshot"] == OK:
            self._ask("whole_page", self._picture_whole_page)
        # The second writing adds the outcomes; it replaces the first only when it is complete.
        self._write("error", self._error_json)
        return self.outcomes

    def _make_answer(self) -> None:
        """Make a page that hangs answer the questions that follow, or note why it will not."""
        tab = self._session.tab
        if tab is None or self._why_not(needs_page=True) is not None:
            return
        with self._session.limit(min(self._left(), ANSWER_SECONDS)):
            try:
                self._mute = hung_page.why_mute(tab, shown_page(self._session) or tab.page)
            except PlaywrightError as problem:
                self._mute = f"the page does not answer ({first_line(problem)})"

    def _left(self) -> float:
        return max(0.1, self._deadline - time.monotonic())

    def _write(self, name: str, step: Callable[[], None]) -> None:
        self.outcomes[name] = OK
        try:
            step()
        except failure_screenshot.TooDear as reason:
            self.outcomes[name] = f"skipped: {reason}"
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
        page = shown_page(self._session)
        if page is None:
            return "there was no page"
        if not self._session.is_alive:
            return "the browser is dead"
        if (reason := self._session.guards.why_hidden) is not None:
            return reason
        if needs_page and self._session.recorder.has_crashed(page):
            return "the page has crashed"
        if needs_page and page.is_closed():
            return "the page is closed"
        return self._mute if needs_page else None

    def _screenshot(self) -> None:
        page = shown_page(self._session)
        assert page is not None
        image = failure_screenshot.take_visible(page)
        write_durably(self._folder / FAILURE.file_name, image)

    def _picture_whole_page(self) -> None:
        """Replace the picture of what can be seen, if there is more to see."""
        page = shown_page(self._session)
        assert page is not None
        if not failure_screenshot.is_whole(page):
            image = failure_screenshot.take_whole(page)
            write_durably(self._folder / FAILURE.file_name, image)

    def _read_html(self) -> None:
        page = shown_page(self._session)
        assert page is not None
        self._html = page.content()

    def _keep_html(self) -> None:
        size, note = len(self._html), ""
        most = min(MAX_HTML, int(self._left() * MASKED_PER_SECOND))
        if size > most:
            note = f"\n<!-- cut here: the page had {size} characters -->\n"
        self._masked = mask_html(self._html[:most])
        self._save("page.html", self._masked + note)

    def _compare(self) -> None:
        """Say whether the selector that failed was there when its task last went well."""
        assert self._last_good is not None
        then = html_of(self._folder, self._last_good)
        message = self._failure.exception_message
        found = before_after.compare(self._session, message, then, self._masked)
        self._last_good = {**self._last_good, "comparison": found}

    def _stop_trace(self) -> None:
        assert self._session.tab is not None
        self._session.tab.stop_trace(trace_file.raw_path(self._session.options.tmp_dir))

    def _keep_trace(self) -> None:
        raw = trace_file.raw_path(self._session.options.tmp_dir)
        seconds = min(self._left(), trace_file.MAX_SECONDS)
        trace_file.keep_masked(raw, self._folder / "trace.zip", seconds)

    def _traceback_text(self) -> None:
        text = self._failure.traceback
        if self._failure.hang_stack:
            text += f"\nWhere it hung:\n{self._failure.hang_stack}"
        self._save("traceback.txt", printable(redact_text(text)))

    def _console_text(self) -> None:
        self._save("console.log", printable(mask(self._session.recorder.console_text())))

    def _network_json(self) -> None:
        self._save_json("network.json", self._session.recorder.network())

    def _error_json(self) -> None:
        facts = asdict(self._failure)
        proxy = self._failure.proxy or self._session.proxy_label
        report = redact_json(
            {
                **{name: value for name, value in facts.items() if name != "traceback"},
                "profile": self._failure.profile or self._session.profile.profile_id,
                "proxy": redact_url(proxy) if proxy else None,
                **self._times,
                **evidence_facts.of_machine(self._session),
                **evidence_facts.of_page(self._session),
                "last_good": self._last_good,
            }
        )
        # `error` is being written now, so its own outcome would always be a guess.
        captured = {name: text for name, text in self.outcomes.items() if name != "error"}
        self._save_json("error.json", {**report, "captured": captured})

    def _save_json(self, name: str, value: Any) -> None:
        # What the recorder heard before a secret was known still holds it.
        text = json.dumps(mask_json(value), ensure_ascii=False, indent=2, default=str)
        self._save(name, printable(text) + "\n")

    def _save(self, name: str, text: str) -> None:
        write_durably(self._folder / name, text.encode("utf-8", "replace"))
