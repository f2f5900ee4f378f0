"""A small web shop on loopback that behaves well, badly and not at all, always on purpose.

Every trouble has its own path, so that a run's outcome can be foretold page by page. It needs
nothing but the standard library, keeps its state in its own process and forgets it at exit.
"""

from examples.demo_site.pages import PAGES, DemoPage, demo_jobs
from examples.demo_site.server import serve

__all__ = ["PAGES", "DemoPage", "demo_jobs", "serve"]
