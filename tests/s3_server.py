"""A server that speaks S3, with one bucket, for tests of what is put there; `None` without moto."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.conftest import reserved_port

BUCKET = "night-evidence"
KEY, SECRET = "AKIANIGHTSHIFTTEST", "hoot-hoot-secret-of-the-bucket"
START_SECONDS = 60.0


@contextmanager
def s3_server(folder: Path) -> Iterator[dict[str, str]]:
    """Run the server; give the variables by which a program reaches its bucket."""
    if importlib.util.find_spec("moto") is None or importlib.util.find_spec("s3fs") is None:
        pytest.skip("no moto and s3fs: pip install 'moto[server]' s3fs")
    with reserved_port() as port, (folder / "s3.log").open("wb") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
            stdout=log,
            stderr=log,
        )
        try:
            url = f"http://127.0.0.1:{port}"
            _make_bucket(url)
            yield {
                "NIGHTSHIFT_EVIDENCE_URL": f"s3://{BUCKET}/nights/shop",
                "AWS_ENDPOINT_URL": url,
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_DEFAULT_REGION": "us-east-1",
                # Nothing of the machine's own is read or asked.
                "AWS_CONFIG_FILE": "/dev/null",
                "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
                "AWS_EC2_METADATA_DISABLED": "true",
            }
        finally:
            server.terminate()
            server.wait(20)


def _make_bucket(url: str) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            assert httpx.put(f"{url}/{BUCKET}", trust_env=False).status_code == 200
        except httpx.TransportError:
            assert time.monotonic() < deadline, "the S3 server did not start"
            time.sleep(0.1)
        else:
            return
