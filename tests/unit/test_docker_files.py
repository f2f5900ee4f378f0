"""The files for Docker: linted, valid by Compose's schema, and as careful as the docs promise."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).parents[2]
OF_PROJECTS = REPO / "worker" / "cli" / "templates" / "project" / "docker"
FOLDERS = (OF_PROJECTS, REPO / "deploy" / "docker")
PROGRAMS = Path(sys.executable).parent


@pytest.fixture(params=FOLDERS, ids=["project", "checkout"])
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def compose_of(folder: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
    parsed: dict[str, Any] = yaml.load(folder / "compose.yaml")
    return parsed


def passes(program: str, *arguments: object) -> None:
    found = shutil.which(program, path=str(PROGRAMS))
    if found is None:
        pytest.skip(f"{program} has no build for this machine")
    done = subprocess.run(
        [found, *map(str, arguments)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_dockerfile_passes_hadolint(folder):
    passes("hadolint", "--no-color", folder / "Dockerfile")


def test_compose_finds_nothing_wrong_by_its_own_schema(folder):
    schema = "vendor.compose-spec"
    passes("check-jsonschema", "--builtin-schema", schema, folder / "compose.yaml")


def test_the_pool_is_confined_reaped_and_watched(folder):
    services = compose_of(folder)["services"]

    assert services["mysql"]["image"] == "mysql:8.4"
    assert "healthcheck" in services["mysql"]
    for name in ("pool", "dashboard"):
        service = services[name]
        assert service["init"] is True
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["seccomp=./seccomp.json", "no-new-privileges:true"]
        assert service["depends_on"]["mysql"]["condition"] == "service_healthy"
    assert services["dashboard"]["ports"] == ["127.0.0.1:8642:8642"]
    assert "healthz" in str(services["dashboard"]["healthcheck"])


def test_the_image_is_not_roots_and_has_a_health_check(folder):
    lines = (folder / "Dockerfile").read_text(encoding="utf-8").splitlines()
    words = [line.split()[0] for line in lines if line[:1].isupper()]

    assert "USER 10001" in lines
    assert words.index("USER") < words.index("HEALTHCHECK") < words.index("ENTRYPOINT")


def test_secrets_of_tasks_reach_the_containers_and_profiles_outlive_them(folder):
    services = compose_of(folder)["services"]

    for name in ("pool", "dashboard"):
        assert services[name]["env_file"] == ".env"
        assert services[name]["environment"]["NIGHTSHIFT_HOST"] == "${NIGHTSHIFT_HOST:-compose}"
    ignored = "dockerignore" if folder == OF_PROJECTS else "Dockerfile.dockerignore"
    assert {".env", "**"} & set((folder / ignored).read_text(encoding="utf-8").split())


def test_no_password_is_in_the_files(folder):
    text = (folder / "compose.yaml").read_text(encoding="utf-8")

    assert text.count("MYSQL_PASSWORD: ${MYSQL_PASSWORD:?") == text.count("MYSQL_PASSWORD: ") == 2


def test_the_image_of_the_checkout_gets_what_its_wheel_is_made_of():
    ignored = (FOLDERS[1] / "Dockerfile.dockerignore").read_text(encoding="utf-8").split()
    build = tomllib.loads((REPO / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]
    hook = build["build"]["targets"]["wheel"]["hooks"]["custom"]["path"]
    source = {path.strip("/") for path in build["build"]["targets"]["sdist"]["include"]}

    assert hook in source
    assert source - {each.removeprefix("!") for each in ignored} == {"launcher.py"}


def test_both_folders_have_one_seccomp_profile():
    first, second = ((folder / "seccomp.json").resolve() for folder in FOLDERS)

    assert first == second


def test_the_profile_forbids_system_calls_that_exist_and_allows_namespaces():
    (rule,) = json.loads((OF_PROJECTS / "seccomp.json").read_text(encoding="utf-8"))["syscalls"]
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("there is no libseccomp")
    unknown = [
        name for name in rule["names"] if library.seccomp_syscall_resolve_name(name.encode()) == -1
    ]

    assert unknown == []
    assert rule["action"] == "SCMP_ACT_ERRNO"
    assert not {"clone", "clone3", "unshare", "chroot", "setns"} & set(rule["names"])
