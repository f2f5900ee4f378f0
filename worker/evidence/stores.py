"""Where files of all hosts can be put: a folder that all of them have, or a bucket of S3's kind.

What goes wrong there is one error without addresses and keys: both are secrets.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from worker.errors import EvidenceUnavailable, SettingsError
from worker.system.durable_file import partial_beside

CONNECT_SECONDS = 10
READ_SECONDS = 30
TRIES = 2
# What the libraries raise, by name, and what a person can do about it.
_REASONS = {
    "NoCredentialsError": "there are no keys: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
    "PartialCredentialsError": "a key is missing: AWS_ACCESS_KEY_ID or AWS_SECRET_ACCESS_KEY",
    "PermissionError": "access is denied",
    "FileNotFoundError": "there is no such bucket, folder or file",
    "EndpointConnectionError": "it does not answer",
    "ConnectTimeoutError": "it does not answer",
    "ReadTimeoutError": "it does not answer in time",
}


class Store(Protocol):
    """A place for files, each named by a path with slashes."""

    def write(self, source: Path, name: str) -> None:
        """Put a file there, whole or not at all; an older one of that name is replaced."""

    def read(self, name: str, target: Path) -> bool:
        """Copy a file from there; False if it is not there."""

    def remove(self, name: str) -> None:
        """Remove a file."""


class FolderStore:
    """A folder of this machine, which other hosts have mounted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, source: Path, name: str) -> None:
        """Put a file there, whole or not at all; an older one of that name is replaced."""
        target = self._folder / name
        with _explained("written"):
            if not self._folder.is_dir():
                raise FileNotFoundError
            target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            partial = partial_beside(target)
            try:
                shutil.copyfile(source, partial)
                partial.chmod(0o600)
                partial.replace(target)
            except OSError:
                partial.unlink(missing_ok=True)
                raise

    def read(self, name: str, target: Path) -> bool:
        """Copy a file from there; False if it is not there."""
        with _explained("read"):
            try:
                shutil.copyfile(self._folder / name, target)
            except FileNotFoundError:
                return False
        return True

    def remove(self, name: str) -> None:
        """Remove a file."""
        with _explained("written"):
            (self._folder / name).unlink(missing_ok=True)


class BucketStore:
    """A bucket, by the keys and the endpoint in the variables that all such programs read."""

    def __init__(self, bucket: str) -> None:
        self._bucket = bucket
        self._made: Any = None

    def write(self, source: Path, name: str) -> None:
        """Put a file there, whole or not at all; an older one of that name is replaced."""
        with _explained("written"):
            self._files.put_file(str(source), f"{self._bucket}/{name}")

    def read(self, name: str, target: Path) -> bool:
        """Copy a file from there; False if it is not there."""
        with _explained("read"):
            if not self._files.exists(f"{self._bucket}/{name}"):
                # A bucket that is not there has no files either: that is said.
                self._files.ls(self._bucket.partition("/")[0])
                return False
            self._files.get_file(f"{self._bucket}/{name}", str(target))
        return True

    def remove(self, name: str) -> None:
        """Remove a file."""
        with _explained("written"):
            self._files.rm_file(f"{self._bucket}/{name}")

    @property
    def _files(self) -> Any:
        """The client, made when it is wanted: its thread would not survive a fork."""
        if self._made is None:
            import fsspec  # type: ignore[import-untyped]

            self._made = fsspec.filesystem(
                "s3",
                skip_instance_cache=True,
                use_listings_cache=False,
                config_kwargs={
                    "connect_timeout": CONNECT_SECONDS,
                    "read_timeout": READ_SECONDS,
                    "retries": {"max_attempts": TRIES},
                },
            )
        return self._made


def require_bucket_client() -> None:
    """Raise SettingsError if the extra that speaks to buckets is not installed."""
    if importlib.util.find_spec("s3fs") is None:
        raise SettingsError(
            "NIGHTSHIFT_EVIDENCE_URL names a bucket, and the package for it is not installed: "
            "pip install 'nightshift[s3]'"
        )


@contextmanager
def _explained(what: str) -> Iterator[None]:
    """Turn whatever goes wrong in a store into one error, by its kind alone."""
    try:
        yield
    except Exception as error:
        kind = type(error).__name__
        number = error.errno if isinstance(error, OSError) else None
        reason = _REASONS.get(kind) or (os.strerror(number) if number else kind)
        raise EvidenceUnavailable(
            f"the shared place for evidence (NIGHTSHIFT_EVIDENCE_URL) cannot be {what}: {reason}"
        ) from None
