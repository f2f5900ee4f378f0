"""What the context of a job's page is made with: by its run, its task and its own manifest.

Put together once for each task, unless a job has wishes of its own, or secrets and files are to be
read. In a profile only what is blocked counts: what sites see is the profile's own face.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from worker.context_fields import LOOKS
from worker.errors import Fail, LaunchFailed, PageRefused, PayloadError
from worker.evidence import known_secrets
from worker.models import Candidate
from worker.profiles import manifest
from worker.tasks import devices, wishes
from worker.tasks.registry import Registry, Task
from worker.tasks.wishes import NOTHING, Declared, Wishes


class JobWishes:
    """The wishes of one run's jobs."""

    def __init__(self, run: Declared = NOTHING) -> None:
        self._run = run
        self._steady: dict[str, Wishes] = {}

    def of(self, task: Task, payload: Mapping[str, Any], *, profile: str | None = None) -> Wishes:
        """Say what one job's page is made with; raises PayloadError, PageRefused or Fail.

        `profile` is the one that the job runs in, if it does.
        """
        own = manifest.wishes_of(payload)
        if profile is not None:
            return self._in_profile(task, own, profile)
        found = self._merged(task, own)
        if found:
            # A log-in or a header is as secret as if the payload held it.
            known_secrets.add(found.secrets())
        return found

    def foreseen(self, candidate: Candidate | None, registry: Registry) -> Wishes | None:
        """Say what a job will wish for that may be the next one; None when nobody knows."""
        task = None if candidate is None else registry.find(candidate.task)
        if candidate is None or task is None or not task.browser or task.isolation != "context":
            return None
        if candidate.profile_id is not None:
            return None
        try:
            own = manifest.wishes_in(candidate.payload)
            return self._merged(task, own)
        except (PayloadError, Fail, LaunchFailed):
            # It will be said of that job.
            return None

    def _merged(self, task: Task, own: Declared) -> Wishes:
        if not own and (known := self._steady.get(task.name)) is not None:
            return known
        device = own.context.get("device")
        if device and (problem := devices.problem_of(device)):
            raise PayloadError(f"manifest.context: {problem}")
        found = wishes.merged(self._run, task.wishes, own)
        if not own and self._run.is_steady and task.wishes.is_steady:
            self._steady[task.name] = found
        return found

    def _in_profile(self, task: Task, own: Declared, profile: str) -> Wishes:
        if own.context:
            raise PayloadError(manifest.not_in_profile(profile))
        if strange := sorted(set(task.wishes.context) - LOOKS):
            raise PageRefused(
                f"task {task.name} wishes for {', '.join(strange)} in its context, and profile "
                f"{profile} has a context of its own; leave that out, or use no profile"
            )
        return Wishes(block=wishes.blocked(self._run, task.wishes, own))
