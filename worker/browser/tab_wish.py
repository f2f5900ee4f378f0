"""What tab a job wants, and which jobs may share one."""

from __future__ import annotations

from dataclasses import dataclass

from worker.browser.context_options import ContextOptions
from worker.tasks.registry import Isolation
from worker.tasks.wishes import Wishes

# Where the page of all tasks that share one stands: no task is called so.
PAGE = ""
Place = tuple[str, Wishes]


@dataclass(frozen=True, slots=True)
class TabWish:
    """What tab a job wants: how isolated, for which task, made with what."""

    isolation: Isolation
    task: str
    options: ContextOptions

    @property
    def place(self) -> Place | None:
        """Where a tab that is kept for such jobs stands; only those with equal wishes share one."""
        if self.isolation == "context":
            return None
        return PAGE if self.isolation == "page" else self.task, self.options.wishes
