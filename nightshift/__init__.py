"""What authors import: `from nightshift import task, Job, Blocked, Retry, Fail, enqueue`.

Everything else is inside, in the package `worker`, and may change.
"""

from worker import Blocked, Fail, Job, Retry, __version__, enqueue, task
from worker.errors import NightshiftError, PayloadError, UsageError

__all__ = [
    "Blocked",
    "Fail",
    "Job",
    "NightshiftError",
    "PayloadError",
    "Retry",
    "UsageError",
    "__version__",
    "enqueue",
    "task",
]
