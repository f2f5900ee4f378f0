"""What authors import: `from nightshift import task, Job, Blocked, Retry, Fail, enqueue` and more.

Everything else is inside, in the package `worker`, and may change.
"""

from worker import Blocked, Fail, Job, Retry, __version__, enqueue, task
from worker.context_types import ContextOptions
from worker.errors import NightshiftError, PayloadError, UsageError
from worker.tasks.opening import open_page

__all__ = [
    "Blocked",
    "ContextOptions",
    "Fail",
    "Job",
    "NightshiftError",
    "PayloadError",
    "Retry",
    "UsageError",
    "__version__",
    "enqueue",
    "open_page",
    "task",
]
