"""Send one event to its receiver, limited in time and size, and only to permitted addresses.

Whatever the receiver does, the result is a receipt. Redirects are not followed, proxy variables are
ignored, and messages show only the host of a URL.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType

import httpx

from worker.errors import SettingsError
from worker.evidence.redaction import redact_text
from worker.evidence.terminal_text import printable
from worker.retry_after import retry_after_seconds
from worker.webhooks.addresses import PrivateAddress, resolve
from worker.webhooks.outbox import Event
from worker.webhooks.signature import body_of, signed_headers

# From looking up the host to the last byte of the answer's headers.
ANSWER_SECONDS = 10.0
CONNECT_SECONDS = 3.0
# The body of an answer means nothing. Reading some of it lets the receiver finish writing.
REST_SECONDS = 1.0
MAX_ANSWER_BYTES = 64 * 1024
MAX_RETRY_AFTER_SECONDS = 86400.0
MAX_ADDRESSES = 3
GONE = 410
# Answers that concern the whole receiver, not this event: the receiver rests for a while.
BUSY = {429, 502, 503, 504}
DEFAULT_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class WebhookSettings:
    """The secret, which is never shown, and whether private addresses are allowed."""

    secret: bytes = field(repr=False)
    allow_private: bool = False

    @classmethod
    def of(cls, environ: Mapping[str, str]) -> WebhookSettings:
        """Read the settings from the environment; raises SettingsError without a secret.

        There is no flag for the secret, because every user of the machine can read flags.
        """
        secret = environ.get("NIGHTSHIFT_WEBHOOK_SECRET", "")
        if not secret:
            raise SettingsError(
                "webhooks are not delivered: NIGHTSHIFT_WEBHOOK_SECRET is not set; put a long "
                "random text into .env or the environment, and the same at the receiver"
            )
        allow = environ.get("NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE", "0").strip().lower()
        if allow not in ("", "0", "1", "no", "yes", "false", "true"):
            raise SettingsError("NIGHTSHIFT_WEBHOOK_ALLOW_PRIVATE is not understood; write 1 or 0")
        return cls(secret.encode(), allow in ("1", "yes", "true"))


@dataclass(frozen=True, slots=True)
class Receipt:
    """The result of a delivery; without a problem, the event has arrived."""

    problem: str | None = None
    is_final: bool = False
    is_receiver_down: bool = False
    retry_after: float | None = None


class Sender:
    """Send events, several at a time if wanted; use it as an async context manager."""

    def __init__(self, settings: WebhookSettings) -> None:
        self._settings = settings
        self._client = httpx.AsyncClient(
            verify=_tls(),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS),
            # Connections are kept by address. One kept alive could serve another host name at the
            # same address, without a check of that name's certificate.
            limits=httpx.Limits(max_keepalive_connections=0),
        )

    async def __aenter__(self) -> Sender:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._client.aclose()

    async def send(self, event: Event) -> Receipt:
        """Send one event; every failure is a receipt that says what went wrong."""
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                response = await self._post(event)
        except TimeoutError:
            return Receipt(f"no answer within {ANSWER_SECONDS:g} s", is_receiver_down=True)
        except PrivateAddress as refusal:
            return Receipt(str(refusal))
        except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError):
            return Receipt("its callback_url is not a http:// or https:// URL", is_final=True)
        except (httpx.TransportError, OSError) as error:
            return Receipt(_said(error), is_receiver_down=True)
        except Exception as error:
            # An event that fails in an unforeseen way must not hold up the others.
            return Receipt(_said(error))
        await _skim(response)
        return judge(response.status_code, response.headers)

    async def _post(self, event: Event) -> httpx.Response:
        url = httpx.URL(event.url)
        if url.scheme not in DEFAULT_PORTS or not url.host:
            raise httpx.UnsupportedProtocol("neither http nor https")
        host = url.raw_host.decode("ascii")
        addresses = await resolve(
            host, url.port or DEFAULT_PORTS[url.scheme], allow_private=self._settings.allow_private
        )
        body = body_of(event)
        headers = {
            **signed_headers(self._settings.secret, event, body),
            "Host": url.netloc.decode("ascii"),
        }
        for address in addresses[:MAX_ADDRESSES]:
            request = self._client.build_request(
                "POST",
                url.copy_with(host=address),
                content=body,
                headers=headers,
                extensions={"sni_hostname": host},
            )
            try:
                return await self._client.send(request, stream=True)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure


def judge(status: int, headers: Mapping[str, str]) -> Receipt:
    """Judge an answer: 2xx means arrived, 410 means given up, anything else is tried again."""
    if 200 <= status < 300:
        return Receipt()
    if status == GONE:
        return Receipt("answered 410: the receiver wants no more events", is_final=True)
    problem = f"answered {status}"
    if 300 <= status < 400:
        problem += ", a redirect, which is not followed; correct the URL"
    return Receipt(
        problem,
        is_receiver_down=status in BUSY,
        retry_after=_retry_after(headers.get("Retry-After", "")),
    )


def shown(url: str) -> str:
    """Write the host of a URL for people; its path, query and login may be secrets."""
    try:
        parsed = httpx.URL(url)
        port = f":{parsed.port}" if parsed.port else ""
        host = f"[{parsed.host}]" if ":" in parsed.host else parsed.host
        return printable(f"{parsed.scheme}://{host}{port}")
    except (httpx.InvalidURL, UnicodeError):
        return "an unreadable URL"


async def _skim(response: httpx.Response) -> None:
    """Read some of the answer's body, for a moment."""
    size = 0
    try:
        async with asyncio.timeout(REST_SECONDS):
            async for chunk in response.aiter_raw(4096):
                size += len(chunk)
                if size >= MAX_ANSWER_BYTES:
                    break
    except (TimeoutError, httpx.HTTPError, OSError):
        # The status and headers are enough.
        pass
    finally:
        await response.aclose()


def _tls() -> ssl.SSLContext:
    """Trust the authorities of certifi and those of this machine."""
    context = httpx.create_ssl_context(trust_env=False)
    context.load_default_certs()
    return context


def _retry_after(text: str) -> float | None:
    """Read the Retry-After header as seconds, a day at most."""
    seconds = retry_after_seconds(text)
    return None if seconds is None else min(seconds, MAX_RETRY_AFTER_SECONDS)


def _said(error: Exception) -> str:
    """Describe a failed connection in one line without secrets."""
    text = redact_text(printable(" ".join(str(error).split())))
    return f"{type(error).__name__}: {text}" if text else type(error).__name__
