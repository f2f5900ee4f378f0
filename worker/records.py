"""Small values that are made for every job: frozen to the type checker, quick to make.

Freezing at run time as well makes a value of twenty fields take thrice as long to make. mypy reads
every line that could change one, so nothing is gained by it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as record
else:
    from dataclasses import dataclass

    def record(cls: type | None = None, /, *, frozen: bool = False, **options: Any) -> Any:
        """Make a dataclass; a frozen one can be hashed, and is left open at run time."""

        def make(cls: type) -> type:
            return dataclass(cls, unsafe_hash=frozen, **options)

        return make if cls is None else make(cls)


__all__ = ["record"]
