"""A vendor's API is called with any credential, and shows none."""

from __future__ import annotations

import re
import time

import pytest

from worker.browser.providers.preset_file import load_preset
from worker.browser.providers.spec import ProfileSpec
from worker.browser.providers.vendor_api import VendorApi
from worker.errors import ProviderError


def test_a_state_folder_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "file").touch()
    api = VendorApi(load_preset("adspower"), {}, tmp_path / "file")
    spec = ProfileSpec(1, "adspower", vendor_id="p", endpoint="127.0.0.1:1")
    with pytest.raises(ProviderError, match=re.escape(f"{tmp_path}/file/vendor-adspower")):
        api.call(api.preset.start, spec, time.monotonic() + 1)


def test_a_credential_beyond_ascii_is_sent_and_not_shown(tmp_path):
    environ = {"NIGHTSHIFT_GOLOGIN_AUTHORIZATION": "pässword\n☃"}
    api = VendorApi(load_preset("gologin"), environ, tmp_path)
    spec = ProfileSpec(1, "gologin", vendor_id="p", endpoint="1")
    with pytest.raises(ProviderError) as caught:
        api.call(api.preset.start, spec, time.monotonic() + 1)

    assert caught.value.kind == "unreachable"
    assert "ssword" not in str(caught.value)
