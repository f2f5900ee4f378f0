"""One profile while a session has it: being opened, open, being closed.

Joins the provider with what it gave, so that a session can end either at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from playwright.sync_api import Error as PlaywrightError
from playwright.sync_api import Page, Playwright

from worker.browser.guards import Guards
from worker.browser.launch import first_line
from worker.browser.page_rules import PageRules
from worker.browser.providers.provider import OpenedProfile, Provider, Within
from worker.browser.providers.spec import ProfileSpec
from worker.browser.recorder import Recorder
from worker.browser.tab import Tab
from worker.browser.task_contexts import TaskContexts
from worker.errors import ProviderError
from worker.evidence.redaction import redact_text
from worker.system.process_tree import ProcessId


class ProfileHold:
    """A profile in use; its pages are handed out one job at a time."""

    def __init__(self, provider: Provider, spec: ProfileSpec) -> None:
        self.spec = spec
        self.open_seconds = provider.open_seconds
        self._provider = provider
        self._opened: OpenedProfile | None = None
        self._contexts: TaskContexts | None = None

    def open(self, playwright: Playwright, on_disconnect: Callable[..., None]) -> None:
        """Have the provider open the profile; raises ProviderError or LaunchFailed."""
        try:
            self._opened = self._provider.open(playwright, self.spec)
            if self._opened.browser is not None:
                self._opened.browser.on("disconnected", on_disconnect)
        except PlaywrightError as error:
            raise self.lost(error) from error

    def new_tab(
        self, recorder: Recorder, guards: Guards, rules: PageRules, block: Sequence[str] = ()
    ) -> Tab:
        """Open a page of its own for a job, and keep it to the rules and from what is blocked."""
        assert self._opened is not None
        context = self._opened.context
        guards.pages.watch(context)
        guards.begin(context, rules)
        if self._contexts is None and context.browser is not None:
            face = self.spec.face
            defaults = face.context_options() if face is not None else {}
            self._contexts = TaskContexts(
                context.browser, guards, recorder, lambda: self.spec.proxy, defaults
            )
        tab = Tab(context, recorder, keeps_context=True)
        if self._contexts is not None:
            tab.also_closes = self._contexts.closing_steps
        # A browser that we started goes out by the way that we gave it, if we gave it one.
        is_by_guard = self._opened.is_ours and self.spec.proxy is None
        guards.watch_profile(tab.page, has_own_way_out=not is_by_guard)
        # In somebody else's browser there may be pages that are not the job's.
        guards.blockings.put_on(context, block, page=None if self._opened.is_ours else tab.page)
        return tab

    @contextmanager
    def page_beside(self, guards: Guards, within: Within) -> Iterator[Page]:
        """Have a page for a moment that serves no job: only this context goes out as it does."""
        assert self._opened is not None
        page = self._opened.context.new_page()
        try:
            guards.watch_profile(page, has_own_way_out=True)
            yield page
        finally:
            within(page.close)

    def close(self, within: Within) -> None:
        """Have the provider close what is open; never raises."""
        if self._opened is not None:
            # It stays known meanwhile, so that a step that hangs can be ended by `kill`.
            self._provider.close(self._opened, within)
            self._opened = None

    def kill(self) -> None:
        """End a browser that hangs, or the wait for it to open, from any thread."""
        if self._opened is not None:
            self._provider.kill(self._opened)
        else:
            self._provider.give_up()

    def lost(self, error: BaseException) -> ProviderError:
        """Say that the profile's browser is gone, or never came."""
        return ProviderError(
            f"{self.spec}: its browser gives no page ({redact_text(first_line(error))})",
            provider=self.spec.provider,
            kind="unreachable",
        )

    @property
    def is_alive(self) -> bool:
        return self._opened is not None and self._opened.is_alive

    @property
    def process(self) -> ProcessId | None:
        """The leader of the browser's process group, if it is ours."""
        return self._opened.process if self._opened is not None else None
