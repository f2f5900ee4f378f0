"""Send a preset's requests, and hand the answers out; waits its turn, keeps time, hides secrets.

Credentials come from the environment when they are needed and get into no error message. What an
answer means is the provider's business.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import httpx

from worker.browser.providers.endpoint import normalise
from worker.browser.providers.pace import Pace
from worker.browser.providers.preset import Condition, Preset, Request
from worker.browser.providers.spec import ProfileSpec
from worker.errors import ProviderError, ProviderTrouble
from worker.evidence.known_secrets import KnownSecrets
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.retry_after import retry_after_seconds

CONNECT_SECONDS = 5.0
MAX_BODY_BYTES = 1_000_000
MAX_MESSAGE = 200

_PLACE = re.compile(r"\{(\w+)(?::(\w+))?\}")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a vendor answered; `data` is None when the body was not JSON."""

    status: int
    body: str
    data: Any
    retry_after: float | None

    @property
    def is_positive(self) -> bool:
        return 200 <= self.status < 300

    def find(self, path: str) -> Any:
        """What stands at a path such as `data.ws.puppeteer`, or None."""
        value = self.data
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def meets(self, condition: Condition | None) -> bool:
        """Tell whether the answer is positive and holds what the condition asks for."""
        if not self.is_positive or condition is None:
            return self.is_positive
        value = self.find(condition.path)
        return value in condition.values if condition.values else bool(value)


class VendorApi:
    """One vendor's API, for any of its profiles."""

    def __init__(self, preset: Preset, environ: Mapping[str, str], state_dir: Path) -> None:
        self.preset = preset
        self._environ = environ
        self._state_dir = state_dir
        self._token: str | None = None
        # It would write a line for every request.
        logging.getLogger("httpx").setLevel(logging.WARNING)

    def call(self, request: Request, spec: ProfileSpec, deadline: float) -> Answer:
        """Send a request, signed in if need be; raises ProviderError when no answer comes."""
        answer = self._send(request, spec, deadline)
        if answer.status == 401 and self._token is not None:
            # Tokens expire while a worker lives on.
            self._token = None
            answer = self._send(request, spec, deadline)
        return answer

    def error(
        self, what: str, kind: ProviderTrouble, retry_after: float | None = None
    ) -> ProviderError:
        """Make an error that says who is at fault, and repeats no credential of ours."""
        known = KnownSecrets(self._secrets())
        text = printable(redact_text(f"{self.preset.title} {what}", known))
        return ProviderError(text, provider=self.preset.name, kind=kind, retry_after=retry_after)

    def endpoint_by_template(self, template: str, spec: ProfileSpec) -> str:
        """The endpoint of a vendor that names none in its answers."""
        host = urlsplit(self._base_url(spec)).netloc
        return self._fill(template.replace("{host}", host), self._values(spec), quoted)

    def message_in(self, answer: Answer) -> str | None:
        """What the vendor itself says of its answer."""
        found = (answer.find(path) for path in self.preset.message_paths)
        message = next((text for text in found if text and isinstance(text, str)), None)
        return " ".join(message.split())[:MAX_MESSAGE] if message else None

    def _send(self, request: Request, spec: ProfileSpec, deadline: float) -> Answer:
        values = self._values(spec)
        if self.preset.sign_in is not None and "token" not in values:
            self._token = values["token"] = self._sign_in(values, deadline)
        headers: dict[bytes, bytes] = {}
        for name, template in self.preset.headers.items():
            # A header whose variable is not set is one that this installation does not need.
            if all(found.group(1) in values for found in _PLACE.finditer(template)):
                headers[name.encode()] = self._fill(template, values).encode()
        return self._exchange(self._base_url(spec), request, values, headers, deadline)

    def _sign_in(self, values: Mapping[str, str], deadline: float) -> str:
        assert self.preset.sign_in is not None
        sign_in = self.preset.sign_in
        base_url = self._environ.get(sign_in.url_variable) or sign_in.base_url
        answer = self._exchange(base_url, sign_in.request, values, {}, deadline)
        if self.preset.throttled.is_on(answer.status, answer.body):
            raise self.error("throttles sign-ins; try later", "throttled", answer.retry_after)
        token = answer.find(sign_in.token_path)
        if not answer.is_positive or not isinstance(token, str) or not token:
            why = self.message_in(answer) or f"HTTP {answer.status}"
            names = ", ".join(self.preset.variables.values())
            raise self.error(f"refuses the sign-in ({why}); look at {names}", "refused")
        return token

    def _exchange(
        self,
        base_url: str,
        request: Request,
        values: Mapping[str, str],
        headers: Mapping[bytes, bytes],
        deadline: float,
    ) -> Answer:
        url = base_url.rstrip("/") + self._fill(request.path, values, quoted)
        body = self._fill_json(request.json, values) if request.json is not None else None
        self._take_turn(base_url, deadline)
        left = max(0.5, deadline - time.monotonic())
        timeout = httpx.Timeout(left, connect=min(left, CONNECT_SECONDS))
        try:
            with (
                httpx.Client(trust_env=False, timeout=timeout) as client,
                client.stream(request.method, url, json=body, headers=headers) as response,
            ):
                return _read(response, deadline)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self.error(
                f"does not answer at {base_url} ({type(error).__name__}); look whether it runs, "
                f"or set {self.preset.url_variable}",
                "unreachable",
            ) from error

    def _take_turn(self, base_url: str, deadline: float) -> None:
        where = hashlib.sha256(base_url.encode()).hexdigest()[:8]
        path = self._state_dir / f"vendor-{self.preset.name}-{where}.turn"
        pace = Pace(path, self.preset.min_interval_seconds)
        try:
            wait = pace.take_turn(deadline - time.monotonic())
        except OSError as error:
            raise self.error(
                f"is not asked: {path} cannot be written ({error.strerror})", "refused"
            ) from error
        if wait is not None:
            raise self.error(
                f"has so many requests waiting that the next turn is in {wait:.0f} s",
                "throttled",
                wait,
            )

    def _base_url(self, spec: ProfileSpec) -> str:
        preset = self.preset
        address = spec.endpoint or self._environ.get(preset.url_variable) or preset.base_url
        return normalise(address) or address

    def _values(self, spec: ProfileSpec) -> dict[str, str]:
        values = dict(spec.options)
        for name, variable in self.preset.variables.items():
            if value := self._environ.get(variable):
                values[name] = value
        if self._token is not None:
            values["token"] = self._token
        if spec.vendor_id is not None:
            values["id"] = spec.vendor_id
        return values

    def _fill(
        self,
        template: str,
        values: Mapping[str, str],
        escape: Callable[[str], str] = lambda text: text,
    ) -> str:
        def replace(found: re.Match[str]) -> str:
            name, transform = found.groups()
            if name not in values:
                what = self.preset.variables.get(name) or f"the profile's {name}"
                what = "the profile's vendor_id" if name == "id" else what
                raise self.error(f"cannot be asked: {what} is not set", "refused")
            return escape(md5_hex(values[name]) if transform == "md5" else values[name])

        return _PLACE.sub(replace, template)

    def _fill_json(self, body: Mapping[str, Any], values: Mapping[str, str]) -> dict[str, Any]:
        return {
            key: self._fill(value, values) if isinstance(value, str) else value
            for key, value in body.items()
        }

    def _secrets(self) -> list[str]:
        known = [self._environ.get(name) for name in self.preset.variables.values()]
        return [secret for secret in (*known, self._token) if secret]


def quoted(text: str) -> str:
    """Escape a text for one step of a URL's path."""
    return quote(text, safe="")


def md5_hex(text: str) -> str:
    """What Multilogin wants instead of a password."""
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


def _read(response: httpx.Response, deadline: float) -> Answer:
    content = b""
    for chunk in response.iter_bytes():
        content += chunk
        if len(content) > MAX_BODY_BYTES or time.monotonic() > deadline:
            break
    body = content[:MAX_BODY_BYTES].decode("utf-8", "replace")
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    wait = retry_after_seconds(response.headers.get("retry-after", ""))
    return Answer(response.status_code, body, data, wait)
