"""Serving the app: waitress, a few threads, and an end that is not a traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable
from typing import Any

from flask import Flask
from waitress.server import create_server  # type: ignore[import-untyped]

from worker.dashboard import services
from worker.dashboard.app import create_app
from worker.dashboard.config import DashboardConfig
from worker.errors import SettingsError

THREADS = 6


def serve(config: DashboardConfig, host: str, port: int, tell: Callable[[str], None]) -> None:
    """Serve until interrupted; `tell` is given the address once it can be asked."""
    app = create_app(config)
    try:
        server = listen(app, config, host.strip("[]"), port)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise SettingsError(f"port {port} of {host} is taken; choose another: --port") from None
        raise SettingsError(f"cannot listen on {host}, port {port}: {error.strerror}") from None
    shown = f"[{host.strip('[]')}]" if ":" in host else host
    tell(f"http://{shown}:{_port(server, port)}/")
    try:
        server.run()
    except KeyboardInterrupt:
        pass
    finally:
        server.close()
        app.extensions[services.NAME].wall.close()


def listen(
    app: Flask,
    config: DashboardConfig,
    host: str,
    port: int,
    sockets: dict[int, Any] | None = None,
) -> Any:
    """Make a server that runs with `run`; raises OSError when it cannot have the address.

    Only of the trusted proxy, if there is one, is it believed on whose behalf it asks. `sockets`
    is filled with all that it has open, by number.
    """
    trusted: dict[str, Any] = {}
    if config.trusted_proxy:
        trusted = {
            "trusted_proxy": config.trusted_proxy,
            "trusted_proxy_headers": {"x-forwarded-for"},
        }
    return create_server(
        app, map=sockets, host=host, port=port, threads=THREADS, ident=None,
        max_request_body_size=1 << 20, clear_untrusted_proxy_headers=True, **trusted,
    )  # fmt: skip


def _port(server: object, asked: int) -> int:
    return int(getattr(server, "effective_port", asked))
