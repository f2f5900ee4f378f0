"""Nightshift's inside. Authors import from `nightshift`; in the checkout this works as well."""

from worker.errors import Blocked, Fail, Retry
from worker.intake.enqueuing import enqueue
from worker.tasks.job import Job
from worker.tasks.registry import task

__version__ = "0.1.0"
__all__ = ["Blocked", "Fail", "Job", "Retry", "enqueue", "task"]
