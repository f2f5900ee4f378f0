"""Evidence in a shared place: whole or not there, private, and nothing there leads astray."""

from __future__ import annotations

import json
import os
import shutil
import stat

import pytest

from tests.s3_server import BUCKET, KEY, SECRET, s3_server
from worker.errors import EvidenceUnavailable, SettingsError
from worker.evidence.shared_place import LIST, EvidenceGone, SharedPlace, place_of


@pytest.fixture(scope="module")
def bucket(tmp_path_factory):
    with s3_server(tmp_path_factory.mktemp("s3")) as variables:
        yield variables


@pytest.fixture(params=["folder", "bucket"])
def environ(request, tmp_path, monkeypatch):
    """The variables of a shared place of each kind, empty."""
    if request.param == "folder":
        (tmp_path / "shared").mkdir()
        return {"NIGHTSHIFT_EVIDENCE_URL": f"file://{tmp_path}/shared"}
    # The client reads its own variables from the process.
    variables = dict(request.getfixturevalue("bucket"))
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    url = f"s3://{BUCKET}/{request.node.name.replace('[', '-').replace(']', '')}"
    return variables | {"NIGHTSHIFT_EVIDENCE_URL": url}


@pytest.fixture
def place(environ) -> SharedPlace:
    found = place_of(environ)
    assert found is not None
    return found


@pytest.fixture
def kept(tmp_path):
    """The evidence of an attempt, as a worker leaves it."""
    folder = tmp_path / "errors" / "12" / "3"
    (folder / "good").mkdir(parents=True)
    (folder / "error.json").write_text('{"job": 12}', encoding="utf-8")
    (folder / "screenshot.png").write_bytes(os.urandom(300_000))
    (folder / "good" / "page.html").write_text("<p>ä</p>", encoding="utf-8")
    (folder / "empty.log").touch()
    (folder / "link").symlink_to("/etc/passwd")
    return folder


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def test_what_is_put_there_comes_back_as_it_was_and_private(place, kept, tmp_path):
    place.put(kept, "12/3", "alpha")

    target = tmp_path / "got"
    target.mkdir()
    assert place.has("12/3")
    assert place.get("12/3", target)
    assert contents(target) == contents(kept)
    assert not (target / "link").exists()
    assert {stat.S_IMODE(path.stat().st_mode) for path in target.rglob("*.*")} == {0o600}


def test_what_was_never_put_there_is_not_there(place, tmp_path):
    assert not place.has("12/4")
    assert not place.get("12/4", tmp_path)


def test_a_copy_that_was_broken_off_is_none(place, kept, tmp_path, monkeypatch):
    store = place.store
    write = store.write

    def break_off(source, name):
        if name.endswith(LIST):
            raise EvidenceUnavailable("it broke off")
        write(source, name)

    monkeypatch.setattr(store, "write", break_off)
    with pytest.raises(EvidenceUnavailable):
        place.put(kept, "12/3", "alpha")
    monkeypatch.undo()

    assert not place.has("12/3")


def test_a_second_copy_replaces_the_first(place, kept, tmp_path):
    place.put(kept, "12/3", "alpha")
    (kept / "screenshot.png").unlink()
    (kept / "error.json").write_text('{"job": 12, "again": true}', encoding="utf-8")

    place.put(kept, "12/3", "alpha")

    target = tmp_path / "got"
    target.mkdir()
    assert place.get("12/3", target)
    assert contents(target) == contents(kept)


def test_evidence_that_was_pruned_is_not_copied(place, kept):
    shutil.rmtree(kept)

    with pytest.raises(EvidenceGone):
        place.put(kept, "12/3", "alpha")


def test_a_file_that_is_missing_there_is_said(place, kept, tmp_path):
    place.put(kept, "12/3", "alpha")
    place.store.remove("12/3/error.json")

    with pytest.raises(EvidenceUnavailable, match=r"is broken: error\.json is missing"):
        place.get("12/3", tmp_path)


@pytest.mark.parametrize(
    "name", ["../../../owned", "/owned", "a/../../owned", "..", "a//b", "nul\0", "back\\slash", ""]
)
def test_a_name_that_leads_elsewhere_is_refused(place, tmp_path, name):
    told = tmp_path / "list.json"
    told.write_text(json.dumps({"files": {name: 5}}), encoding="utf-8")
    place.store.write(told, f"12/3/{LIST}")

    with pytest.raises(EvidenceUnavailable, match="a list of files that is none of ours"):
        place.get("12/3", tmp_path / "got")
    assert not list(tmp_path.rglob("owned"))


@pytest.mark.parametrize("text", ["", "[]", "{", '{"files": {"a": "b"}}', '{"files": 7}'])
def test_a_list_that_is_none_is_refused(place, tmp_path, text):
    told = tmp_path / "list.json"
    told.write_text(text, encoding="utf-8")
    place.store.write(told, f"12/3/{LIST}")

    with pytest.raises(EvidenceUnavailable, match="is none of ours"):
        place.has("12/3")


@pytest.mark.parametrize("evidence", ["../1", "12/../../x", "12", "12/.3", "a/3", "12/3/4"])
def test_what_a_row_calls_evidence_leads_nowhere_else(place, evidence):
    with pytest.raises(EvidenceUnavailable, match="names no evidence"):
        place.has(evidence)


def test_doctor_can_try_it_out(place):
    place.try_out()


def test_files_in_a_shared_folder_are_private(tmp_path, kept):
    (tmp_path / "shared").mkdir()
    place = place_of({"NIGHTSHIFT_EVIDENCE_URL": str(tmp_path / "shared")})
    assert place is not None

    place.put(kept, "12/3", "alpha")

    files = [path for path in (tmp_path / "shared").rglob("*") if path.is_file()]
    assert len(files) == len(contents(kept)) + 1
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}


def test_a_folder_that_is_not_mounted_is_not_made(tmp_path, kept):
    place = place_of({"NIGHTSHIFT_EVIDENCE_URL": str(tmp_path / "away")})
    assert place is not None

    with pytest.raises(EvidenceUnavailable, match="cannot be written"):
        place.put(kept, "12/3", "alpha")
    assert not (tmp_path / "away").exists()


def test_without_a_variable_there_is_no_place():
    assert place_of({}) is None
    assert place_of({"NIGHTSHIFT_EVIDENCE_URL": " "}) is None


@pytest.mark.parametrize(
    "url",
    [
        "relative/folder",
        "file://host/folder",
        "ftp://hunter2@example.com/x",
        "s3://AKIA:hunter2@bucket/x",
        "s3://",
        "s3://B",
        "https://hunter2.example/x",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_repeating_it(url):
    with pytest.raises(SettingsError, match="NIGHTSHIFT_EVIDENCE_URL") as caught:
        place_of({"NIGHTSHIFT_EVIDENCE_URL": url})
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"NIGHTSHIFT_EVIDENCE_URL": "s3://no-such-bucket/x"}, "there is no such bucket"),
        ({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}, "it does not answer"),
        ({"AWS_ACCESS_KEY_ID": "", "AWS_SECRET_ACCESS_KEY": ""}, "there are no keys"),
    ],
)
def test_what_is_wrong_with_a_bucket_is_said_without_its_name_and_keys(
    bucket, kept, monkeypatch, changes, reason
):
    variables = bucket | changes
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
        if not value:
            monkeypatch.delenv(name)
    place = place_of(variables)
    assert place is not None

    with pytest.raises(EvidenceUnavailable, match=reason) as caught:
        place.put(kept, "12/3", "alpha")
    said = str(caught.value)
    assert not any(secret in said for secret in (BUCKET, "no-such-bucket", KEY, SECRET, "nights"))
