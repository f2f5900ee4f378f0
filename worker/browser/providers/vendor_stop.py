"""Have a vendor stop a profile's browser, and know which ones may still run.

Until a stop has gone well the browser counts as running. One that is open elsewhere is not ours to
stop: for us it does not run.
"""

from __future__ import annotations

import time
from typing import Literal

from worker.browser.providers.answer import Answer
from worker.browser.providers.patience import Patience
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError

THROTTLE_TRIES = 4
THROTTLE_PAUSE_SECONDS = 1.0
STOPPING_SECONDS = 10.0
STOPPING_PAUSE_SECONDS = 0.3
# How many sessions of one profile are looked for and stopped at once.
MOST_SESSIONS = 5

Standing = Literal["running", "locked", "stopped"]


class VendorStop:
    """Stops the profiles of one vendor."""

    def __init__(self, api: VendorApi, patience: Patience) -> None:
        self._api = api
        self._patience = patience
        # Profiles whose last stop went wrong, and how.
        self.left: dict[int | str, str] = {}
        # The sessions that this process has started, until they are stopped.
        self.sessions: dict[int | str, str] = {}

    def stop(self, spec: ProfileSpec, deadline: float, *, forgets: bool = True) -> bool:
        """Stop the profile and tell whether it ran; raises ProviderError.

        Without `forgets` its session stays kept, for whoever may not write that down now.
        """
        try:
            if self._api.preset.session_path is None:
                was_running = self._ask(spec, deadline, {})
            else:
                was_running = self._stop_sessions(spec, deadline)
        except ProviderError as error:
            self.left[spec.profile_id] = str(error)
            raise
        self.left.pop(spec.profile_id, None)
        if forgets and self._known_session(spec) is not None:
            self.sessions.pop(spec.profile_id, None)
            spec.forget_session()
        if was_running:
            self._api.turns(spec).note_stop(str(spec.vendor_id))
        return was_running

    def wait_until_stopped(self, spec: ProfileSpec, deadline: float) -> bool:
        """Wait while the vendor says that the profile still runs; tell whether it runs on."""
        deadline = min(deadline, time.monotonic() + STOPPING_SECONDS)
        while self.standing(spec, deadline) == "running":
            if not self._patience.pause(STOPPING_PAUSE_SECONDS, deadline):
                return True
        return False

    def standing(self, spec: ProfileSpec, deadline: float) -> Standing | None:
        """Ask how a profile stands; None when the vendor cannot be asked, or says nothing clear."""
        if self._api.preset.status is None:
            return None
        if self._api.preset.session_path is None:
            return self._standing(spec, deadline, {})
        session = self._known_session(spec) or self._found_session(spec, deadline)
        return (
            "stopped" if session is None else self._standing(spec, deadline, {"session": session})
        )

    def _standing(
        self, spec: ProfileSpec, deadline: float, more: dict[str, str]
    ) -> Standing | None:
        status = self._api.preset.status
        if status is None:
            return None
        answer = self._api.call(status.request, spec, deadline, more)
        values = self._api.values(spec, more)
        if status.locked is not None and answer.meets(status.locked, values):
            return "locked"
        if answer.meets(status.running, values):
            return "running"
        is_clear = answer.meets(status.request.success, values) and answer.data is not None
        return "stopped" if is_clear else None

    def _stop_sessions(self, spec: ProfileSpec, deadline: float) -> bool:
        """Stop the session that is known, or else those that can be found."""
        known = self._known_session(spec)
        if known is not None and self._ask(spec, deadline, {"session": known}):
            return True
        stopped: list[str] = []
        while len(stopped) < MOST_SESSIONS:
            session = self._found_session(spec, deadline)
            if session is None or session in (known, *stopped):
                break
            self._ask(spec, deadline, {"session": session})
            stopped.append(session)
        return bool(stopped)

    def _known_session(self, spec: ProfileSpec) -> str | None:
        return self.sessions.get(spec.profile_id) or spec.session

    def _found_session(self, spec: ProfileSpec, deadline: float) -> str | None:
        find = self._api.preset.find
        if find is None:
            return None
        answer = self._api.call(find.request, spec, deadline)
        if not self._api.meets(answer, find.request.success, spec) or answer.data is None:
            raise self._api.error(
                f"does not say what runs of {spec}: {self._api.said(answer)}", "bad_answer"
            )
        return readable_session(answer, find.session_path, self._api.values(spec))

    def _ask(self, spec: ProfileSpec, deadline: float, more: dict[str, str]) -> bool:
        preset = self._api.preset
        for tries_left in reversed(range(THROTTLE_TRIES)):
            answer = self._api.call(preset.stop, spec, deadline, more)
            if answer.meets(preset.stop.success, self._api.values(spec, more)):
                return True
            if preset.not_running.is_on(answer) or preset.locked.is_on(answer):
                return False
            if not preset.throttled.is_on(answer) or not tries_left:
                break
            pause = max(
                answer.retry_after or 0.0, preset.min_interval_seconds, THROTTLE_PAUSE_SECONDS
            )
            if not self._patience.pause(pause, deadline):
                break
        if self._standing(spec, deadline, more) in ("stopped", "locked"):
            # Whatever it says of the stop: nothing of ours runs.
            return False
        raise refusal(self._api, answer, f"does not stop {spec}")


def readable_session(answer: Answer, path: str, values: dict[str, str]) -> str | None:
    """Read the id of a session, if there is one that can be kept and sent."""
    found = answer.find(path, values)
    text = str(found) if isinstance(found, str | int) and not isinstance(found, bool) else ""
    return text if 0 < len(text) <= 255 and text.isprintable() else None


def refusal(api: VendorApi, answer: Answer, what: str) -> ProviderError:
    """Make the error for an answer that is a no, or is not understood."""
    said = api.said(answer)
    if api.preset.throttled.is_on(answer):
        return api.error(f"throttles; it {what} ({said})", "throttled", answer.retry_after)
    if api.has_message(answer) or not answer.is_positive:
        return api.error(f"{what}: {said}", "refused")
    return api.error(f"{what}: its answer is not understood ({said})", "bad_answer")
