"""The provider of a name, made once and kept: a vendor's token outlives one profile."""

from __future__ import annotations

import os
from collections.abc import Mapping

from worker.browser.options import BrowserOptions
from worker.browser.providers.cdp import CdpProvider
from worker.browser.providers.local import LocalProvider
from worker.browser.providers.preset_file import load_preset
from worker.browser.providers.provider import Provider
from worker.browser.providers.spec import CDP, LOCAL, ProfileSpec
from worker.browser.providers.vendor import VendorProvider
from worker.browser.providers.vendor_api import VendorApi


class Providers:
    """All providers that one process may need; `environ` holds vendors' credentials."""

    def __init__(self, options: BrowserOptions, environ: Mapping[str, str] | None = None) -> None:
        self._options = options
        self._environ = os.environ if environ is None else environ
        self._known: dict[str, Provider] = {}

    def get(self, name: str) -> Provider:
        """Give the provider of that name; raises SettingsError when there is none."""
        if name not in self._known:
            self._known[name] = self._make(name)
        return self._known[name]

    def stop(self, spec: ProfileSpec) -> str | None:
        """Stop and name what a crashed worker left of a profile's browser; raises ProviderError."""
        return self.get(spec.provider).stop(spec)

    def _make(self, name: str) -> Provider:
        if name == LOCAL:
            return LocalProvider(self._options)
        if name == CDP:
            return CdpProvider()
        return VendorProvider(VendorApi(load_preset(name), self._environ, self._options.shared_dir))
