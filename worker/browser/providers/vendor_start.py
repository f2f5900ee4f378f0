"""Have a vendor start a profile's browser, and learn where it listens.

Throttling, downloads and an endpoint that is not ready yet are waited for, within the limit. What
is open elsewhere is left alone; what runs here already is treated as the profile wants it.
"""

from __future__ import annotations

import time

from worker.browser.providers import endpoint as endpoints
from worker.browser.providers.answer import Answer
from worker.browser.providers.patience import Patience
from worker.browser.providers.preset import IF_RUNNING, IfRunning
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import VendorApi
from worker.browser.providers.vendor_stop import (
    THROTTLE_PAUSE_SECONDS,
    THROTTLE_TRIES,
    VendorStop,
    readable_session,
    refusal,
)
from worker.errors import ProviderError

# While a vendor downloads what its browser needs.
PREPARING_PAUSE_SECONDS = 5.0
# A vendor may say that it has started a browser before it knows its port.
ENDPOINT_TRIES = 4
ENDPOINT_PAUSE_SECONDS = 1.0
# After these a start has started nothing.
PLAIN_NOES = ("already_running", "locked", "preparing", "refused", "throttled")


class VendorStart:
    """Starts the profiles of one vendor."""

    def __init__(self, api: VendorApi, stop: VendorStop, patience: Patience) -> None:
        self._api = api
        self._stop = stop
        self._patience = patience
        self._was_asked = self._has_begun = False

    def start(self, spec: ProfileSpec, deadline: float) -> str:
        """Start the profile and give its endpoint; raises ProviderError."""
        self._was_asked = self._has_begun = False
        policy = self._policy(spec)
        self._wait_after_stop(spec, deadline)
        # Otherwise its start tells.
        must_ask = self._api.preset.start_adopts and policy is not IfRunning.ADOPT
        if must_ask and self._stop.standing(spec, deadline) == "running":
            self._make_way(spec, policy, deadline)
        answer = self._ask(spec, deadline)
        if self._is_running_already(answer):
            if policy is IfRunning.ADOPT:
                return self._adopt(answer, spec, deadline)
            self._make_way(spec, policy, deadline)
            answer = self._ask(spec, deadline)
            if self._is_running_already(answer):
                raise self._running(spec, "also after it was stopped; close it there")
        if not self._has_started(answer, spec):
            self._require_unlocked(spec, deadline)
            raise refusal(self._api, answer, f"does not start {spec}")
        self._keep_session(answer, spec)
        return self._endpoint(answer, spec, deadline)

    def may_run(self, error: BaseException) -> bool:
        """Tell whether the last start, which ended in an error, may have started something."""
        is_plain_no = isinstance(error, ProviderError) and error.kind in PLAIN_NOES
        return self._has_begun or (self._was_asked and not is_plain_no)

    def _policy(self, spec: ProfileSpec) -> IfRunning:
        wanted = spec.options.get(IF_RUNNING)
        if wanted is not None and wanted not in list(IfRunning):
            raise self._api.error(
                f"cannot be asked: {spec} has an unknown {IF_RUNNING}; "
                f"set it to {', '.join(IfRunning)}",
                "refused",
            )
        return self._api.preset.if_running if wanted is None else IfRunning(wanted)

    def _ask(self, spec: ProfileSpec, deadline: float) -> Answer:
        """Ask to start until the answer is something else than to wait; raises ProviderError."""
        preset = self._api.preset
        throttles_left = THROTTLE_TRIES
        while True:
            self._was_asked = True
            answer = self._api.call(preset.start, spec, deadline)
            if self._has_started(answer, spec):
                self._has_begun = True
                return answer
            if preset.throttled.is_on(answer):
                throttles_left -= 1
                self._wait_for_leave(answer, spec, deadline, is_last=not throttles_left)
            elif preset.locked.is_on(answer):
                raise self._locked(answer, spec)
            elif preset.preparing.is_on(answer):
                self._wait_until_prepared(answer, spec, deadline)
            else:
                return answer

    def _wait_for_leave(
        self, answer: Answer, spec: ProfileSpec, deadline: float, *, is_last: bool
    ) -> None:
        wanted = answer.retry_after or 0.0
        pause = max(wanted, self._api.preset.min_interval_seconds, THROTTLE_PAUSE_SECONDS)
        if wanted:
            # Then it wants nothing of any other worker either.
            self._api.turns(spec).rest(wanted)
        if is_last or not self._patience.pause(pause, deadline):
            said = self._api.said(answer)
            raise self._api.error(
                f"throttles ({said}); {spec} cannot be started now", "throttled", pause
            )

    def _wait_until_prepared(self, answer: Answer, spec: ProfileSpec, deadline: float) -> None:
        pause = max(answer.retry_after or 0.0, PREPARING_PAUSE_SECONDS)
        if not self._patience.pause(pause, deadline):
            raise self._api.error(
                f"is still making {spec} ready: {self._api.said(answer)}", "preparing", pause
            )

    def _wait_after_stop(self, spec: ProfileSpec, deadline: float) -> None:
        left = deadline - time.monotonic()
        if (wait := self._api.turns(spec).wait_after_stop(str(spec.vendor_id), left)) is not None:
            raise self._api.error(
                f"has just stopped {spec}; it is started later", "throttled", wait
            )

    def _make_way(self, spec: ProfileSpec, policy: IfRunning, deadline: float) -> None:
        """Stop what runs here of a profile, if that is wanted; raises ProviderError if not."""
        if policy is IfRunning.REFUSE:
            raise self._running(spec, f"and its {IF_RUNNING} is refuse: close it there")
        self._require_unlocked(spec, deadline)
        self._stop.stop(spec, deadline)
        self._stop.wait_until_stopped(spec, deadline)
        self._wait_after_stop(spec, deadline)

    def _require_unlocked(self, spec: ProfileSpec, deadline: float) -> None:
        status = self._api.preset.status
        may_be_locked = status is not None and status.locked is not None
        if may_be_locked and self._stop.standing(spec, deadline) == "locked":
            raise self._api.error(f"says that {spec} is open elsewhere", "locked")

    def _adopt(self, answer: Answer, spec: ProfileSpec, deadline: float) -> str:
        """Give the endpoint of what runs already, from wherever the vendor tells it."""
        found = self._own_endpoint(answer, spec) or self._status_endpoint(spec, deadline)
        if found is None:
            raise self._running(
                spec,
                f"but not where it listens; close it there, or set its {IF_RUNNING} to restart",
            )
        return found

    def _endpoint(self, answer: Answer, spec: ProfileSpec, deadline: float) -> str:
        preset = self._api.preset
        for _ in range(ENDPOINT_TRIES):
            if (found := self._own_endpoint(answer, spec)) is not None:
                return found
            can_ask = preset.start_adopts or preset.status is not None
            if not can_ask or not self._patience.pause(ENDPOINT_PAUSE_SECONDS, deadline):
                break
            if (found := self._status_endpoint(spec, deadline)) is not None:
                return found
            if preset.start_adopts:
                answer = self._ask(spec, deadline)
        paths = " or ".join(preset.endpoint_paths)
        raise self._api.error(
            f"has started {spec}, but its answer names no endpoint ({paths})", "bad_answer"
        )

    def _own_endpoint(self, answer: Answer, spec: ProfileSpec) -> str | None:
        """The endpoint that an answer names; raises ProviderError for one that is no good."""
        preset = self._api.preset
        if preset.endpoint_template is not None:
            return self._api.endpoint_by_template(preset.endpoint_template, spec)
        for path in preset.endpoint_paths:
            found = answer.find(path, self._api.values(spec))
            if found in (None, "", False) or not isinstance(found, str | int):
                continue
            try:
                return endpoints.placed(found, self._api.base_url(spec), preset.endpoint_hosts)
            except ValueError as problem:
                raise self._api.error(
                    f"has started {spec}, but the endpoint in its answer ({path}) {problem}",
                    "bad_answer",
                ) from None
        return None

    def _status_endpoint(self, spec: ProfileSpec, deadline: float) -> str | None:
        status = self._api.preset.status
        if status is None or self._api.preset.session_path is not None:
            return None
        answer = self._api.call(status.request, spec, deadline)
        if not self._api.meets(answer, status.running, spec):
            return None
        return self._own_endpoint(answer, spec)

    def _keep_session(self, answer: Answer, spec: ProfileSpec) -> None:
        """Keep the session's id before anything else: without it nobody could stop the browser."""
        path = self._api.preset.session_path
        if path is None:
            return
        session = readable_session(answer, path, self._api.values(spec))
        if session is None:
            raise self._api.error(
                f"has started {spec}, but its answer does not name the session ({path})",
                "bad_answer",
            )
        self._stop.sessions[spec.profile_id] = session
        spec.keep_session(session)

    def _has_started(self, answer: Answer, spec: ProfileSpec) -> bool:
        return self._api.meets(answer, self._api.preset.start.success, spec)

    def _is_running_already(self, answer: Answer) -> bool:
        return not answer.meets(self._api.preset.start.success) and (
            self._api.preset.already_running.is_on(answer)
        )

    def _locked(self, answer: Answer, spec: ProfileSpec) -> ProviderError:
        return self._api.error(
            f"says that {spec} is open elsewhere: {self._api.said(answer)}",
            "locked",
            answer.retry_after,
        )

    def _running(self, spec: ProfileSpec, why: str) -> ProviderError:
        return self._api.error(f"says that {spec} is already running, {why}", "already_running")
