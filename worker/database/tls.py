"""How a connection to the server is encrypted, and how much its certificate must prove.

What can be asked for, and by which variables, is read by `worker/database_settings.py`.
"""

from __future__ import annotations

import ssl

from worker.database_settings import DatabaseSettings
from worker.errors import SettingsError


def tls_context(settings: DatabaseSettings) -> ssl.SSLContext | None:
    """Make what the driver needs for TLS; None leaves it to the driver. Raises SettingsError."""
    if settings.ssl_mode in ("disabled", "preferred") or settings.unix_socket is not None:
        return None
    try:
        context = ssl.create_default_context(cafile=settings.ssl_ca)
        if settings.ssl_cert:
            context.load_cert_chain(settings.ssl_cert, settings.ssl_key)
    except (OSError, ssl.SSLError) as error:
        files = ", ".join(filter(None, (settings.ssl_ca, settings.ssl_cert, settings.ssl_key)))
        raise SettingsError(f"the TLS files cannot be used: {files}: {error}") from error
    context.check_hostname = settings.ssl_mode == "verify-identity"
    if settings.ssl_mode == "required":
        context.verify_mode = ssl.CERT_NONE
    return context
