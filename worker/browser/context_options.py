"""What a context is made with: jobs may only follow each other in one if they want the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worker.proxies.proxy import Proxy
from worker.tasks.wishes import NONE, Wishes


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """Options of a context that cannot be changed once it is made."""

    proxy: Proxy | None = None
    downloads: bool = False
    wishes: Wishes = NONE

    def as_playwright(self) -> dict[str, Any]:
        """Say it in the words of `Browser.new_context`."""
        proxy = self.proxy.as_playwright() if self.proxy is not None else None
        asked = self.wishes.options if self.wishes else {}
        return {**asked, "proxy": proxy, "accept_downloads": self.downloads}
