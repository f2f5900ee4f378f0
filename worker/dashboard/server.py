"""Serving the app: waitress, a few threads, and an end that is not a traceback."""

from __future__ import annotations

import errno
from collections.abc import Callable

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
        server = create_server(
            app, host=host.strip("[]"), port=port, threads=THREADS, ident=None,
            max_request_body_size=1 << 20, clear_untrusted_proxy_headers=True,
        )  # fmt: skip
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


def _port(server: object, asked: int) -> int:
    return int(getattr(server, "effective_port", asked))
