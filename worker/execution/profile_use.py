"""The account environment of the job that runs: its profile opened, its steps kept, then let go.

For a job without a lease all of this does nothing. The lease is released last, after evidence and
settlement, when the profile's browser is closed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass

from worker.browser.browser_version import version_of
from worker.browser.options import as_chromium
from worker.browser.providers.provider import Provider
from worker.browser.providers.spec import ProfileSpec
from worker.browser.session import BrowserSession
from worker.database.best_effort import best_effort
from worker.database.client import Database, Row
from worker.errors import LeaseLost, ProviderError, SettingsError
from worker.evidence.redaction import redact_text, redact_url
from worker.execution.proxy_use import ProxyUse
from worker.models import Claim, StepKind
from worker.profiles import (
    doubts,
    faces,
    hosts,
    lease_endings,
    leases,
    own_folder,
    presence,
    store,
    vendor_sessions,
)
from worker.profiles.specs import spec_of

# The leases end when the database stays away: by then the launcher has stopped the job.
PATIENCE_SECONDS = 3.0

logger = logging.getLogger("nightshift.worker")


@dataclass(slots=True)
class ProfileUse:
    """One worker's side of the profiles it uses, one at a time."""

    db: Database
    session: BrowserSession
    proxy_use: ProxyUse
    holder: str
    _profile_id: str | None = None
    _fence: int = 0
    _job_id: int = 0
    _review: str | None = None
    _opened: Row | None = None
    _spec: ProfileSpec | None = None

    def enter(self, claim: Claim) -> None:
        """Take over the lease that came with a claim, if one did."""
        is_leased = claim.lease_fence is not None
        self._profile_id = claim.profile_id if is_leased else None
        self._fence, self._job_id = claim.lease_fence or 0, claim.job_id
        # What an ordinary job said about itself is not said about the next one's profile.
        self._review = self._opened = self._spec = None

    def open(self, on_begin: Callable[[float], None] = lambda _: None) -> None:
        """Open the profile's browser; raises ProviderError, or LaunchFailed without a Chromium.

        `on_begin` is told how many seconds that may take at the most.
        """
        if self._profile_id is None:
            return
        profile = store.get(self.db, self._profile_id)
        on_begin(self._provider_of(profile).open_seconds)
        self._require_contents(profile)
        hosts.adopt(self.db, profile, by=self.holder)
        version = version_of(as_chromium(self.session.options))
        spec = faces.put_on(self.db, profile, spec_of(self.db, profile), version)
        self._spec = spec = vendor_sessions.kept_with(self.db, spec, self._fence)
        self.proxy_use.serve_profile(spec.proxy)
        self.session.open_profile(spec)
        presence.opened(self.db, profile)
        self._opened = profile

    def _provider_of(self, profile: Row) -> Provider:
        name = profile["provider"]
        try:
            return self.session.providers.get(name)
        except SettingsError as error:
            # Its description was there when the profile was added; the job is not to blame.
            raise ProviderError(str(error), provider=name, kind="refused") from error

    def _require_contents(self, profile: Row) -> None:
        try:
            own_folder.require(self.db, profile)
            presence.require(self.db, profile)
        except ProviderError as error:
            self._review = str(error)
            raise

    def note_step(self, text: str, kind: StepKind = StepKind.GUESSED) -> None:
        """Keep the task's last safe step with the lease, and where its page was then."""
        with self._briefly("step"):
            self.keep_step(text, kind)

    def keep_step(self, text: str, kind: StepKind) -> None:
        """Keep the step, or raise what keeps it from being written."""
        if (profile_id := self._profile_id) is not None:
            page = self.session.page
            url = redact_url(page.url) if page is not None else ""
            leases.note_step(self.db, profile_id, self._fence, redact_text(text), url, kind)

    def want_review(self, reason: str) -> None:
        """Have a person look at the profile before it is used again."""
        self._review = reason = redact_text(reason)
        if (profile_id := self._profile_id) is not None:
            with self._briefly("wish for a review"):
                leases.want_review(self.db, profile_id, self._fence, reason)

    def _briefly(self, what: str) -> AbstractContextManager[None]:
        """Write what a task says of itself, but do not let its time run out over that.

        Its step is on the board too, and its wish for a review goes with the release.
        """
        return best_effort(
            self.db,
            f"a {what} of job {self._job_id} was not written",
            patience_seconds=PATIENCE_SECONDS,
            level=logging.WARNING,
        )

    def doubt(self, step: str, kind: StepKind = StepKind.GUESSED) -> None:
        """Think of what may be half done by a task that broke off at a step."""
        self._review = self._review or doubts.about_step(step, kind)

    def leave(self) -> None:
        """Close the profile's browser and let go of the profile."""
        profile_id, self._profile_id = self._profile_id, None
        if profile_id is None:
            return
        self.session.close_profile()
        left = None
        if self._spec is not None:
            left = self.session.providers.get(self._spec.provider).left_running(self._spec)
        if self._opened is not None:
            presence.note(self.db, self._opened)
        try:
            lease_endings.release(
                self.db,
                profile_id,
                self._fence,
                author=self.holder,
                reason=f"job {self._job_id} is settled",
                review=self._review,
                left_running=left,
            )
        except LeaseLost as lost:
            logger.error("%s", lost)
