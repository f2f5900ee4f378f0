"""How large a storm on profiles is, and how its profiles are named."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Plan:
    """How large a storm is; the seed repeats the order of its kills."""

    jobs: int
    profiles: int
    workers: int
    kills: int
    launcher_kills: int
    seed: int
    deadline_seconds: float

    def is_shared(self, number: int) -> bool:
        """Whether two may hold a profile at once: every tenth."""
        return number % 10 == 9

    @property
    def shared(self) -> set[str]:
        return {name_of(n) for n in range(self.profiles) if self.is_shared(n)}


def name_of(number: int) -> str:
    """Name a profile."""
    return f"p{number:04}"
