"""Where a worker's live pictures go, and when they are wanted: what the board and the wall say."""

from __future__ import annotations

from worker.browser.live_pictures import LivePictures
from worker.settings import RunSettings
from worker.system import live_wall
from worker.system.board import Entry, Header


def connect(pictures: LivePictures, settings: RunSettings, header: Header, entry: Entry) -> None:
    """Let pictures be taken while the board shows that somebody looks, and put on the wall."""
    folder = live_wall.folder_of(settings.state_dir, settings.database.key)

    def keep(image: bytes, why: str) -> None:
        # The word may have come meanwhile that nobody looks any more, or the job be settled.
        if header.is_watched and (job_id := entry.job_id):
            live_wall.keep(folder, entry.incarnation, job_id, image, why)

    pictures.is_wanted = lambda: header.is_watched
    pictures.keep = keep
