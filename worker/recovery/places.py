"""Where this host keeps what recovery needs: journal, evidence, and workers' last lines."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from worker.browser import last_words
from worker.database_settings import DatabaseSettings
from worker.queue import journal


@dataclass(frozen=True, slots=True)
class Places:
    """The folders of one database's jobs on this host."""

    database: DatabaseSettings
    state_dir: Path
    errors_dir: Path

    @property
    def journal(self) -> Path:
        return journal.folder_of(self.state_dir, self.database)

    def last_words_of(self, slot: int) -> Path:
        return last_words.path_of(self.state_dir, self.database.key, slot)
