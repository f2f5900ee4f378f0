"""What only its owner may read, and what others may."""

from __future__ import annotations

import subprocess
import sys

from worker.system.private_files import close_to_others, is_open_to_others, open_inside

SCRIPT = """
import os, pathlib, sys
from worker.system.private_files import write_privately
os.umask(0)
write_privately()
folder = pathlib.Path(sys.argv[1])
(folder / "inner").mkdir()
(folder / "inner" / "file").write_text("x")
os.system(f"touch {folder}/of-a-child")
"""


def test_what_a_process_and_its_children_write_is_the_owners_alone(tmp_path):
    subprocess.run([sys.executable, "-c", SCRIPT, str(tmp_path)], check=True)

    modes = {path.name: oct(path.stat().st_mode & 0o777) for path in tmp_path.rglob("*")}
    assert modes == {"inner": "0o700", "file": "0o600", "of-a-child": "0o600"}


def test_something_open_in_an_open_folder_is_found(tmp_path):
    tmp_path.chmod(0o755)
    inner = tmp_path / "7"
    inner.mkdir(mode=0o700)
    (tmp_path / ".gitkeep").touch(mode=0o644)
    assert open_inside(tmp_path) is None

    inner.chmod(0o750)
    assert open_inside(tmp_path) == inner
    tmp_path.chmod(0o700)
    assert open_inside(tmp_path) is None


def test_what_is_not_there_is_not_open(tmp_path):
    assert not is_open_to_others(tmp_path / "absent")
    assert open_inside(tmp_path / "absent") is None


def test_a_folder_is_closed_to_others_and_keeps_its_owners_rights(tmp_path):
    tmp_path.chmod(0o755)

    close_to_others(tmp_path)
    close_to_others(tmp_path / "nothing")

    assert tmp_path.stat().st_mode & 0o777 == 0o700
