"""Evidence that all hosts can get: copied to the place that NIGHTSHIFT_EVIDENCE_URL names.

A copy counts when its list of files is there, which is written last. What comes back from there is
checked against that list: names that lead elsewhere are refused.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from worker.errors import EvidenceUnavailable, SettingsError
from worker.evidence.stores import BucketStore, FolderStore, Store, require_bucket_client

VARIABLE = "NIGHTSHIFT_EVIDENCE_URL"
LIST = "copied.json"
MOST_FILES = 1000
# `<job>/<attempt>`, as rows name evidence.
_EVIDENCE = re.compile(r"\d{1,19}/(?!\.)[\w.-]{1,120}")
_PART = re.compile(r"(?!\.{1,2}$)[\w. -]{1,150}")
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_FORMS = "a folder (/mnt/evidence or file:///mnt/evidence) or s3://BUCKET/PREFIX"


class EvidenceGone(Exception):
    """The evidence is not on this machine any more: there is nothing to copy."""


@dataclass(frozen=True, slots=True)
class SharedPlace:
    """The place as one process uses it."""

    store: Store

    def put(self, folder: Path, evidence: str, host: str) -> None:
        """Copy a folder of evidence there, as `<job>/<attempt>`; an older copy is replaced.

        Raises EvidenceGone if it is not here any more, and EvidenceUnavailable.
        """
        _check(_EVIDENCE, evidence)
        files = dict(sorted(_files_in(folder)))
        if not files:
            raise EvidenceGone(evidence)
        self.store.remove(f"{evidence}/{LIST}")
        for name in files:
            if not (folder / name).is_file():
                raise EvidenceGone(evidence)
            self.store.write(folder / name, f"{evidence}/{name}")
        with tempfile.NamedTemporaryFile("w", encoding="utf-8", suffix=".json") as told:
            json.dump({"host": host, "files": files}, told)
            told.flush()
            self.store.write(Path(told.name), f"{evidence}/{LIST}")

    def has(self, evidence: str) -> bool:
        """Whether a whole copy is there."""
        return self._list(evidence) is not None

    def get(self, evidence: str, target: Path) -> bool:
        """Copy evidence from there into a folder; False if it is not there.

        Raises EvidenceUnavailable if the copy is broken.
        """
        listed = self._list(evidence)
        if listed is None:
            return False
        for name, size in listed.items():
            path = target / name
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            is_there = self.store.read(f"{evidence}/{name}", path)
            if not is_there or path.stat().st_size != size:
                raise EvidenceUnavailable(
                    f"the copy of {evidence} in the shared place is broken: {name} is "
                    f"{'of another size' if is_there else 'missing'}; copy it again there: "
                    f"launcher.py evidence put, on the host that has it"
                )
            path.chmod(0o600)
        return True

    def try_out(self) -> None:
        """Write, read and remove a file; raises EvidenceUnavailable."""
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "trial"
            source.write_text("trial", encoding="utf-8")
            name = f".trial-{os.getpid()}"
            self.store.write(source, name)
            self.store.read(name, source)
            self.store.remove(name)

    def _list(self, evidence: str) -> dict[str, int] | None:
        _check(_EVIDENCE, evidence)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / LIST
            if not self.store.read(f"{evidence}/{LIST}", path):
                return None
            return _read_list(path.read_bytes(), evidence)


def place_of(environ: Mapping[str, str]) -> SharedPlace | None:
    """Make the shared place of this process's settings; None where there is none.

    Raises SettingsError, without repeating the URL, which may be a secret.
    """
    url = environ.get(VARIABLE, "").strip()
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme in ("", "file") and not parts.netloc:
        path = Path(unquote(parts.path) if parts.scheme else url)
        if not path.is_absolute():
            raise SettingsError(f"{VARIABLE} must be an absolute path; give {_FORMS}")
        return SharedPlace(FolderStore(path))
    if parts.scheme != "s3":
        raise SettingsError(f"{VARIABLE} cannot be used; give {_FORMS}")
    if "@" in parts.netloc or not _BUCKET.fullmatch(parts.netloc):
        raise SettingsError(
            f"{VARIABLE} must name a bucket and no keys, as in s3://BUCKET/PREFIX; "
            f"keys go to AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
        )
    require_bucket_client()
    return SharedPlace(BucketStore(f"{parts.netloc}{parts.path.rstrip('/')}"))


def _files_in(folder: Path) -> Iterator[tuple[str, int]]:
    """List the plain files of a folder with their sizes; links are not followed."""
    for current, _, names in os.walk(folder):
        for name in names:
            path = Path(current) / name
            relative = path.relative_to(folder).as_posix()
            if path.is_file() and not path.is_symlink() and _is_plain(relative):
                yield relative, path.stat().st_size


def _read_list(content: bytes, evidence: str) -> dict[str, int]:
    try:
        told: Any = json.loads(content)
        files: dict[str, int] = told["files"]
        is_good = len(files) <= MOST_FILES and all(
            _is_plain(name) and isinstance(size, int) for name, size in files.items()
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        is_good = False
    if not is_good:
        raise EvidenceUnavailable(
            f"the copy of {evidence} in the shared place has a list of files that is none of ours; "
            f"copy it again: launcher.py evidence put, on the host that has it"
        )
    return files


def _is_plain(name: str) -> bool:
    """Whether a file's name leads nowhere else: `page.html`, or `good/page.html`."""
    return name != LIST and all(_PART.fullmatch(part) for part in name.split("/"))


def _check(form: re.Pattern[str], evidence: str) -> None:
    if not form.fullmatch(evidence) or ".." in evidence:
        raise EvidenceUnavailable(f"{evidence[:100]!r} names no evidence")
