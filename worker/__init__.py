"""What authors import: `from worker import task, Job, Blocked, Retry, Fail, enqueue`."""

from worker.errors import Blocked, Fail, Retry
from worker.intake.enqueuing import enqueue
from worker.tasks.job import Job
from worker.tasks.registry import task

__version__ = "0.1.0"
__all__ = ["Blocked", "Fail", "Job", "Retry", "enqueue", "task"]
