"""Send a preset's requests, and hand the answers out; signs in, waits its turn, hides secrets.

Credentials come from the environment when they are needed and get into no error message. What an
answer means is the provider's business.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from worker.browser.providers.answer import Answer, Condition
from worker.browser.providers.endpoint import label, normalise
from worker.browser.providers.exchange import Cutter, exchange, no_answer
from worker.browser.providers.placeholders import (
    NotSet,
    filled,
    filled_json,
    names_in,
    quoted,
)
from worker.browser.providers.preset import Preset, Request, SignIn
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_turns import VendorTurns
from worker.errors import ProviderError, ProviderTrouble
from worker.evidence import known_secrets
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable

MAX_MESSAGE = 200
UNAUTHORIZED = 401
REFUSED_LOGINS = (401, 403)


class VendorApi:
    """One vendor's API, for any of its profiles."""

    def __init__(self, preset: Preset, environ: Mapping[str, str], state_dir: Path) -> None:
        self.preset = preset
        self._environ = environ
        self._state_dir = state_dir
        # What the sign-in gave, such as a token; None before it.
        self._kept: dict[str, str] | None = None
        self._cutter: Cutter | None = None
        # It would write a line for every request.
        logging.getLogger("httpx").setLevel(logging.WARNING)

    def call(
        self,
        request: Request,
        spec: ProfileSpec,
        deadline: float,
        more: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request, signed in if need be; raises ProviderError when no answer comes."""
        answer = self._send(request, spec, deadline, more or {})
        if answer.status == UNAUTHORIZED and self._kept is not None:
            # Tokens expire while a worker lives on.
            self._kept = None
            answer = self._send(request, spec, deadline, more or {})
        return answer

    def sign_in(self, spec: ProfileSpec, deadline: float) -> bool:
        """Sign in as before any request; tell whether that was needed. Raises ProviderError."""
        self._log_in(spec, deadline)
        return self._kept is not None

    def reach(self, spec: ProfileSpec, deadline: float) -> None:
        """Ask for nothing, to see whether anybody is there; raises ProviderError if not."""
        self._exchange(self.base_url(spec), Request("GET", "/"), {}, {}, deadline)

    def cut(self) -> None:
        """End the request that goes on now, if there is one; from any thread."""
        if self._cutter is not None:
            self._cutter.cut()

    def error(
        self, what: str, kind: ProviderTrouble, retry_after: float | None = None
    ) -> ProviderError:
        """Make an error that says who is at fault, and repeats no credential of ours."""
        known = KnownSecrets(self._secrets())
        text = printable(redact_text(f"{self.preset.title} {what}", known))
        return ProviderError(text, provider=self.preset.name, kind=kind, retry_after=retry_after)

    def endpoint_by_template(self, template: str, spec: ProfileSpec) -> str:
        """The endpoint of a vendor that names none in its answers."""
        host = urlsplit(self.base_url(spec)).netloc
        preset = self.preset
        connect = self._environ.get(preset.endpoint_url_variable) or preset.endpoint_base_url
        template = template.replace("{host}", host).replace("{connect}", connect.rstrip("/"))
        return self._fill(template, self.values(spec), is_url=True)

    def said(self, answer: Answer) -> str:
        """Put in one line what the vendor says itself, or else what kind of answer it is."""
        found = (answer.find(path) for path in self.preset.message_paths)
        message = next((text for text in found if text and isinstance(text, str)), None)
        if answer.leads_to is not None:
            said = f"HTTP {answer.status}, a redirect to {answer.leads_to} that is not followed"
        elif message:
            said = " ".join(message.split())[:MAX_MESSAGE]
        elif answer.is_positive and answer.data is None:
            said = f"HTTP {answer.status}, but no JSON"
        else:
            said = f"HTTP {answer.status}"
        if answer.status in REFUSED_LOGINS and self.preset.variables:
            said = f"{said}; look at {self._credentials}"
        return said

    def has_message(self, answer: Answer) -> bool:
        """Tell whether the vendor says anything of its answer in words."""
        found = (answer.find(path) for path in self.preset.message_paths)
        return any(text and isinstance(text, str) for text in found)

    def meets(self, answer: Answer, condition: Condition | None, spec: ProfileSpec) -> bool:
        """Tell whether an answer is positive and holds what a condition asks for."""
        return answer.meets(condition, self.values(spec))

    def base_url(self, spec: ProfileSpec) -> str:
        """Where the vendor's API is, for a profile."""
        preset = self.preset
        address = spec.endpoint or self._environ.get(preset.url_variable) or preset.base_url
        return normalise(address) or address

    def turns(self, spec: ProfileSpec) -> VendorTurns:
        """When the vendor may be asked of a profile."""
        return VendorTurns(self.preset, self._state_dir, self.base_url(spec))

    def values(self, spec: ProfileSpec, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """What can be filled in for a profile."""
        values = {name: str(value) for name, value in spec.options.items()}
        for name, variable in self.preset.variables.items():
            if value := self._environ.get(variable):
                values[name] = value
        values |= self._kept or {}
        values["profile"] = str(spec.profile_id)
        if spec.vendor_id is not None:
            values["id"] = spec.vendor_id
        return values | dict(more or {})

    def _send(
        self, request: Request, spec: ProfileSpec, deadline: float, more: Mapping[str, str]
    ) -> Answer:
        self._log_in(spec, deadline)
        values = self.values(spec, more)
        headers: dict[bytes, bytes] = {}
        for name, template in self.preset.headers.items():
            # A header whose variable is not set is one that this installation does not need.
            if names_in(template) <= values.keys():
                headers[name.encode()] = self._fill(template, values).encode()
        request = _chosen(request, spec.options)
        return self._exchange(self.base_url(spec), request, values, headers, deadline)

    def _log_in(self, spec: ProfileSpec, deadline: float) -> None:
        step = self.preset.sign_in
        values = self.values(spec)
        if step is None or self._kept is not None:
            return
        if step.keep and self._needed(step) <= values.keys():
            # It is in the environment: a token that somebody has made.
            return
        if not step.is_required and not _needs(step) <= values.keys():
            return
        kept: dict[str, str] = {}
        base_url = self.base_url(spec)
        while step is not None:
            base_url = self._environ.get(step.url_variable or "") or step.base_url or base_url
            kept |= self._sign_in(step, base_url, values | kept, deadline)
            step = step.then if step.then and _needs(step.then) <= (values | kept).keys() else None
        # A worker writes logs of much else, too.
        known_secrets.keep(kept.values())
        self._kept = kept

    def _sign_in(
        self, step: SignIn, base_url: str, values: Mapping[str, str], deadline: float
    ) -> dict[str, str]:
        answer = self._exchange(base_url, step.request, values, {}, deadline)
        if self.preset.throttled.is_on(answer):
            raise self.error("throttles sign-ins; try later", "throttled", answer.retry_after)
        found = {name: answer.find(path) for name, path in step.keep.items()}
        kept = {name: text for name, text in found.items() if isinstance(text, str) and text}
        is_whole = self._needed(step) <= kept.keys()
        if not answer.meets(step.request.success, values) or not is_whole:
            raise self.error(
                f"refuses the sign-in ({self._reason(answer)}); look at {self._credentials}",
                "refused",
            )
        return kept

    def _needed(self, step: SignIn) -> set[str]:
        """Name what a sign-in must give, because every later request sends it."""
        sent = {name for header in self.preset.headers.values() for name in names_in(header)}
        return sent & step.keep.keys()

    def _reason(self, answer: Answer) -> str:
        said = self.said(answer)
        return said.partition("; look at ")[0]

    @property
    def _credentials(self) -> str:
        return ", ".join(self.preset.variables.values())

    def _exchange(
        self,
        base_url: str,
        request: Request,
        values: Mapping[str, str],
        headers: Mapping[bytes, bytes],
        deadline: float,
    ) -> Answer:
        url = base_url.rstrip("/") + self._fill(request.path, values, is_url=True)
        body = self._fill_json(request.json, values) if request.json is not None else None
        with self._turn(base_url, deadline):
            cutter = self._cutter = Cutter(deadline)
            try:
                return exchange(request.method, url, json=body, headers=headers, cutter=cutter)
            except no_answer() as error:
                raise self.error(
                    f"does not answer at {label(base_url)} ({type(error).__name__}); look whether "
                    f"it runs, or set {self.preset.url_variable}",
                    "unreachable",
                ) from error

    @contextmanager
    def _turn(self, base_url: str, deadline: float) -> Iterator[None]:
        """Ask when it is time, and alone if that must be; raises ProviderError."""
        turns = VendorTurns(self.preset, self._state_dir, base_url)
        try:
            if (wait := turns.take(deadline - time.monotonic())) is not None:
                raise self.error(f"is not to be asked for {wait:.0f} s more", "throttled", wait)
            with turns.only_one(deadline) as is_alone:
                if not is_alone:
                    raise self.error("is busy with another request all the time", "throttled")
                yield
        except OSError as error:
            raise self.error(
                f"is not asked: {turns.path} cannot be written ({error.strerror})", "refused"
            ) from error

    def _fill(self, template: str, values: Mapping[str, str], *, is_url: bool = False) -> str:
        try:
            return filled(template, values, quoted if is_url else str)
        except NotSet as missing:
            raise self._not_set(missing.name) from None

    def _fill_json(self, body: Mapping[str, Any], values: Mapping[str, str]) -> Any:
        try:
            return filled_json(body, values)
        except NotSet as missing:
            raise self._not_set(missing.name) from None

    def _not_set(self, name: str) -> ProviderError:
        what = self.preset.variables.get(name) or f"the profile's option {name}"
        what = "the profile's vendor_id" if name == "id" else what
        return self.error(f"cannot be asked: {what} is not set", "refused")

    def _secrets(self) -> list[str]:
        known = [self._environ.get(name) for name in self.preset.variables.values()]
        return [secret for secret in (*known, *(self._kept or {}).values()) if secret]


def _chosen(request: Request, options: Mapping[str, str]) -> Request:
    """Change a request as the profile's options want it."""
    path, body = request.path, request.json
    for name, variant in request.when.items():
        if str(options.get(name, "")).lower() in ("", "0", "false", "no", "off"):
            continue
        path = variant.path or path
        body = {**(body or {}), **variant.json} if variant.json else body
    return Request(request.method, path, body, request.success)


def _needs(step: SignIn) -> frozenset[str]:
    return names_in(step.request.path) | names_in(dict(step.request.json or {}))
