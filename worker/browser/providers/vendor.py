"""A vendor's browser: started and stopped by its HTTP API, used over CDP.

Whatever was started is stopped by the API, also after a failed connect, and a disconnect never
stands for a stop. A profile that already runs is stopped and started anew: we hold its lease.
"""

from __future__ import annotations

import logging
import time

from playwright.sync_api import Playwright

from worker.browser.providers.cdp import CdpProvider, connect
from worker.browser.providers.endpoint import normalise
from worker.browser.providers.provider import OpenedProfile, Within
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import Answer, VendorApi
from worker.errors import ProviderError

START_SECONDS = 90.0
STOP_SECONDS = 15.0
# A hung job's browser is stopped from the watchdog, which must not be held up for long.
KILL_SECONDS = 5.0
THROTTLE_TRIES = 4
THROTTLE_PAUSE_SECONDS = 1.0
STOPPING_SECONDS = 10.0
STATUS_SECONDS = 5.0
STOPPING_PAUSE_SECONDS = 0.3

logger = logging.getLogger("nightshift.worker")


class VendorProvider:
    """Opens the profiles of one vendor."""

    # Two starts and a stop, and the connecting.
    open_seconds = START_SECONDS + 2 * STOP_SECONDS + CdpProvider.open_seconds

    def __init__(self, api: VendorApi) -> None:
        self._api = api
        # Profiles whose last stop went wrong, and how.
        self._left: dict[int | str, str] = {}

    def open(self, playwright: Playwright, spec: ProfileSpec) -> OpenedProfile:
        """Start the profile and connect to it; raises ProviderError, with the profile stopped."""
        try:
            endpoint = self._start(spec, time.monotonic() + START_SECONDS)
            browser, context = connect(playwright, spec, endpoint)
        except ProviderError as error:
            # A plain no has started nothing; after anything else it may be running.
            if error.kind not in ("throttled", "refused"):
                self._stop_quietly(spec, STOP_SECONDS)
            raise
        except BaseException:
            self._stop_quietly(spec, STOP_SECONDS)
            raise
        return OpenedProfile(spec, context, browser)

    def close(self, opened: OpenedProfile, within: Within) -> None:
        """Disconnect, and stop the browser, which a disconnect would leave running."""
        if opened.browser is not None:
            within(opened.browser.close)
        self._stop_quietly(opened.spec, STOP_SECONDS)

    def kill(self, opened: OpenedProfile) -> None:
        """Have the vendor stop a browser that hangs, from any thread."""
        self._stop_quietly(opened.spec, KILL_SECONDS)

    def stop(self, spec: ProfileSpec) -> str | None:
        """Have the vendor stop the profile's browser; not running is fine. Raises ProviderError."""
        deadline = time.monotonic() + STOP_SECONDS
        was_running = self._stop(spec, deadline)
        if was_running and self._wait_until_stopped(spec, deadline):
            self._left[spec.profile_id] = f"{self._api.preset.title} says that {spec} runs on"
            raise self._api.error(f"says that {spec} runs on after it was stopped", "refused")
        return f"{self._api.preset.title} has stopped its browser" if was_running else None

    def left_running(self, spec: ProfileSpec) -> str | None:
        """Say why the vendor's last stop of the profile failed, if it did."""
        return self._left.get(spec.profile_id)

    def is_running(self, spec: ProfileSpec) -> bool | None:
        """Ask the vendor whether a profile runs now; None when it cannot be asked that."""
        status = self._api.preset.status
        if status is None:
            return None
        return self._api.call(status, spec, time.monotonic() + STATUS_SECONDS).meets(status.success)

    def _start(self, spec: ProfileSpec, deadline: float) -> str:
        answer = self._ask_to_start(spec, deadline)
        if self._is_running_already(answer):
            if (endpoint := self._endpoint_in(answer, spec)) is not None:
                return endpoint
            self._stop(spec, deadline)
            self._wait_until_stopped(spec, deadline)
            answer = self._ask_to_start(spec, deadline)
            if self._is_running_already(answer):
                raise self._api.error(
                    f"says that {spec} is already running, also after it was stopped; "
                    "close it in the vendor's program",
                    "already_running",
                )
        if not answer.meets(self._api.preset.start.success):
            raise self._refusal(answer, f"does not start {spec}")
        return self._endpoint_of(answer, spec)

    def _ask_to_start(self, spec: ProfileSpec, deadline: float) -> Answer:
        preset = self._api.preset
        for tries_left in reversed(range(THROTTLE_TRIES)):
            answer = self._api.call(preset.start, spec, deadline)
            if answer.meets(preset.start.success) or not preset.throttled.is_on(
                answer.status, answer.body
            ):
                return answer
            pause = max(
                answer.retry_after or 0.0, preset.min_interval_seconds, THROTTLE_PAUSE_SECONDS
            )
            if not tries_left or time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
        raise self._api.error(f"throttles; {spec} cannot be started now", "throttled", pause)

    def _stop(self, spec: ProfileSpec, deadline: float) -> bool:
        """Stop the profile and tell whether it ran; until that is known it counts as running."""
        try:
            was_running = self._ask_to_stop(spec, deadline)
        except ProviderError as error:
            self._left[spec.profile_id] = str(error)
            raise
        self._left.pop(spec.profile_id, None)
        return was_running

    def _ask_to_stop(self, spec: ProfileSpec, deadline: float) -> bool:
        preset = self._api.preset
        for tries_left in reversed(range(THROTTLE_TRIES)):
            answer = self._api.call(preset.stop, spec, deadline)
            is_stopped = answer.meets(preset.stop.success)
            if is_stopped or preset.not_running.is_on(answer.status, answer.body):
                return is_stopped
            pause = max(preset.min_interval_seconds, THROTTLE_PAUSE_SECONDS)
            is_throttled = preset.throttled.is_on(answer.status, answer.body)
            if not is_throttled or not tries_left or time.monotonic() + pause > deadline:
                break
            time.sleep(pause)
        raise self._refusal(answer, f"does not stop {spec}")

    def _stop_quietly(self, spec: ProfileSpec, seconds: float) -> None:
        try:
            self._stop(spec, time.monotonic() + seconds)
        except ProviderError as error:
            # Whoever lets go of the profile asks for this, and does not make it available.
            logger.warning("%s; it may still be running", error)

    def _wait_until_stopped(self, spec: ProfileSpec, deadline: float) -> bool:
        """Wait while the vendor says that the profile still runs, if it can be asked.

        Returns whether it runs on.
        """
        status = self._api.preset.status
        if status is None:
            return False
        deadline = min(deadline, time.monotonic() + STOPPING_SECONDS)
        while time.monotonic() < deadline:
            if not self._api.call(status, spec, deadline).meets(status.success):
                return False
            time.sleep(STOPPING_PAUSE_SECONDS)
        return True

    def _is_running_already(self, answer: Answer) -> bool:
        preset = self._api.preset
        is_started = answer.meets(preset.start.success)
        return not is_started and preset.already_running.is_on(answer.status, answer.body)

    def _endpoint_of(self, answer: Answer, spec: ProfileSpec) -> str:
        preset = self._api.preset
        if preset.endpoint_template is not None:
            return self._api.endpoint_by_template(preset.endpoint_template, spec)
        if (endpoint := self._endpoint_in(answer, spec)) is None:
            paths = " or ".join(preset.endpoint_paths)
            raise self._api.error(
                f"has started {spec}, but its answer names no endpoint ({paths})", "bad_answer"
            )
        return endpoint

    def _endpoint_in(self, answer: Answer, spec: ProfileSpec) -> str | None:
        for path in self._api.preset.endpoint_paths:
            found = answer.find(path)
            if isinstance(found, str | int) and (endpoint := normalise(found)) is not None:
                return endpoint
        return None

    def _refusal(self, answer: Answer, what: str) -> ProviderError:
        if self._api.preset.throttled.is_on(answer.status, answer.body):
            return self._api.error(f"throttles; it {what}", "throttled", answer.retry_after)
        message = self._api.message_in(answer)
        if message is not None or not answer.is_positive:
            why = f"HTTP {answer.status}" if message is None else message
            return self._api.error(f"{what}: {why}", "refused")
        return self._api.error(f"{what}: its answer is not understood", "bad_answer")
