"""What is checked of a job before a browser is touched: its cap, its task and its payload.

A worker checks it when it begins the job. Of a job that cannot begin yet, because its profile is
closed, the same is foreseen: what fails here will fail whatever becomes of that profile.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from worker.errors import Fail, PayloadError, TaskNotFound
from worker.execution.task_call import parse_payload
from worker.execution.verdict import judge
from worker.installation import command_line
from worker.models import Candidate, Claim, Ending, Owner
from worker.queue.claims import Queue
from worker.records import record
from worker.tasks import named_secrets
from worker.tasks.registry import Registry, Task


@record(frozen=True, slots=True)
class Prepared:
    """A job that can begin: its task, its payload as it came and in its task's shape."""

    task: Task
    payload: dict[str, Any]
    shaped: Any


def prepare(registry: Registry, claim: Claim) -> Prepared:
    """Make a job ready to begin; raises Fail, TaskNotFound or PayloadError for one that cannot."""
    if claim.tries > claim.max_attempts:
        raise Fail(
            f"it has had its {claim.max_attempts} attempts; "
            f"to try again: {command_line('retry', '--id', claim.job_id)}"
        )
    task = registry.get(claim.task)
    payload = parse_payload(claim.payload)
    return Prepared(task, payload, task.fit(payload))


@dataclass(frozen=True, slots=True)
class Foresight:
    """What one worker can say of a job before it may be claimed."""

    registry: Registry
    queue: Queue
    owner: Owner

    def ending_of(self, candidate: Candidate) -> Ending | None:
        """Say how a job will end before its task begins; None for one that can begin."""
        try:
            ready = prepare(self.registry, self.queue.claim_of(self.owner, candidate))
            for name in ready.task.secrets_of(ready.shaped):
                named_secrets.check(name)
        except (Fail, TaskNotFound, PayloadError) as error:
            return judge(error)
        except Exception:  # noqa: BLE001 - a shape is its author's code, and tells when it is run.
            return None
        return None
