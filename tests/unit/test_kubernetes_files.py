"""The files for Kubernetes: valid by its own schemas, confined, and in step with the program."""

from __future__ import annotations

import base64
import configparser
import io
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from worker.cli.main import cli
from worker.flags import parse_duration
from worker.supervisor.courier import LAST_DELIVERY_SECONDS
from worker.supervisor.lookout import LAST_LOOK_SECONDS
from worker.supervisor.loop import HAND_BACK_SECONDS
from worker.supervisor.porter import LAST_COPIES_SECONDS

REPO = Path(__file__).parents[2]
FOLDER = REPO / "deploy" / "kubernetes"
MANIFESTS = sorted(path for path in FOLDER.glob("*/*.yaml") if path.name != "kustomization.yaml")
POOLS = ("follow/deployment.yaml", "drain/cronjob.yaml")
# All that a run does after its signal.
ENDING_SECONDS = (
    2 * HAND_BACK_SECONDS + LAST_DELIVERY_SECONDS + LAST_LOOK_SECONDS + LAST_COPIES_SECONDS
)


def load(path: Path) -> dict[str, Any]:
    yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
    parsed: dict[str, Any] = yaml.load(path)
    return parsed


def built(folder: Path) -> list[dict[str, Any]]:
    """Build a kustomization with whichever program is there."""
    for command in (("kustomize", "build"), ("kubectl", "kustomize")):
        if shutil.which(command[0]) is not None:
            done = subprocess.run(
                [*command, str(folder)], capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stderr
            yaml = pytest.importorskip("ruamel.yaml").YAML(typ="safe")
            return list(yaml.load_all(io.StringIO(done.stdout)))
    pytest.skip("neither kustomize nor kubectl is installed: apt install kubernetes-client")


def pod_of(name: str) -> dict[str, Any]:
    spec: dict[str, Any] = load(FOLDER / name)["spec"]
    template = spec["template"] if "template" in spec else spec["jobTemplate"]["spec"]["template"]
    found: dict[str, Any] = template["spec"]
    return found


@pytest.fixture(params=POOLS)
def pod(request: pytest.FixtureRequest) -> dict[str, Any]:
    return pod_of(request.param)


def flags_of(pod: dict[str, Any]) -> dict[str, str]:
    pairs = (each.removeprefix("--").partition("=") for each in pod["containers"][0]["args"][1:])
    return {name: value for name, _, value in pairs}


@pytest.mark.parametrize("path", MANIFESTS, ids=lambda path: path.name)
def test_kubernetes_accepts_every_manifest(path):
    validate = pytest.importorskip("kubernetes_validate").validate

    validate(load(path), "1.31", strict=True)


def test_a_manifest_with_a_mistake_is_refused():
    found = pytest.importorskip("kubernetes_validate")
    broken = load(FOLDER / POOLS[0])
    broken["spec"]["template"]["spec"]["terminationGracePeriodSecond"] = 1

    with pytest.raises(found.ValidationError):
        found.validate(broken, "1.31", strict=True)


def test_each_kustomization_names_files_that_are_there_and_all_of_them():
    for folder in ("base", "follow", "drain"):
        told = load(FOLDER / folder / "kustomization.yaml")
        names = set(told["resources"]) - {"../base"}
        here = {path.name for path in (FOLDER / folder).glob("*.yaml")} - {"kustomization.yaml"}
        assert names == here
        assert folder == "base" or "../base" in told["resources"]
    (secret,) = load(FOLDER / "base" / "kustomization.yaml")["secretGenerator"]
    assert (FOLDER / "base" / f"{secret['envs'][0]}.example").is_file()


@pytest.mark.parametrize(("form", "kind"), [("follow", "Deployment"), ("drain", "CronJob")])
def test_kustomize_builds_what_kubernetes_accepts(tmp_path, form, kind):
    folder = shutil.copytree(FOLDER, tmp_path / "kubernetes")
    example = folder / "base" / "nightshift.env.example"
    shutil.copy(example, folder / "base" / "nightshift.env")

    found = {each["kind"]: each for each in built(folder / form)}

    assert {"NetworkPolicy", "Secret", kind} <= set(found)
    validate = pytest.importorskip("kubernetes_validate").validate
    for each in found.values():
        validate(each, "1.31", strict=True)
    spec = found[kind]["spec"]
    spec = spec["jobTemplate"]["spec"] if kind == "CronJob" else spec
    (container,) = spec["template"]["spec"]["containers"]
    assert container["image"] == "registry.example.internal/nightshift:0.1.0"
    # Named by its content, so that pods are replaced when a secret changes.
    name = found["Secret"]["metadata"]["name"]
    assert container["envFrom"] == [{"secretRef": {"name": name}}]
    assert name.startswith("nightshift-")
    url = base64.b64decode(found["Secret"]["data"]["DATABASE_URL"]).decode()
    assert f"DATABASE_URL={url}" in example.read_text(encoding="utf-8").splitlines()


def test_the_secrets_own_file_never_gets_into_the_repository():
    ignored = (REPO / ".gitignore").read_text(encoding="utf-8").splitlines()

    assert "/deploy/kubernetes/base/nightshift.env" in ignored
    example = (FOLDER / "base" / "nightshift.env.example").read_text(encoding="utf-8")
    assert "PASSWORD@" in example


def test_a_pod_has_the_rights_it_needs_and_no_others(pod):
    (container,) = pod["containers"]

    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["runAsUser"] == 10001
    assert pod["securityContext"]["seccompProfile"]["type"] == "Localhost"
    assert pod["automountServiceAccountToken"] is False
    assert container["securityContext"] == {
        "readOnlyRootFilesystem": True,
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    assert container["envFrom"] == [{"secretRef": {"name": "nightshift"}}]


def test_a_pod_may_write_where_a_run_writes(pod):
    mounts = {each["mountPath"]: each["name"] for each in pod["containers"][0]["volumeMounts"]}
    volumes = {each["name"]: each["emptyDir"] for each in pod["volumes"]}

    assert set(mounts) == {
        *("/project/.local", "/project/errors", "/project/results", "/tmp", "/dev/shm")
    }
    assert set(mounts.values()) == set(volumes)
    assert volumes[mounts["/dev/shm"]] == {"medium": "Memory", "sizeLimit": "1Gi"}


def test_a_pod_has_time_to_end_its_run_in_good_order(pod):
    grace = parse_duration(flags_of(pod)["grace"])

    assert pod["terminationGracePeriodSeconds"] >= grace + ENDING_SECONDS


@pytest.mark.parametrize("name", POOLS)
def test_the_flags_are_those_of_run(name):
    known = CliRunner().invoke(cli, ["run", "--help"]).output

    for flag in flags_of(pod_of(name)):
        assert f"--{flag} " in known


def test_the_indexed_pods_have_all_slots_between_them():
    job = load(FOLDER / "drain" / "cronjob.yaml")["spec"]["jobTemplate"]["spec"]
    flags = flags_of(pod_of("drain/cronjob.yaml"))

    assert job["completionMode"] == "Indexed"
    assert job["completions"] == job["parallelism"]
    assert int(flags["total"]) == int(flags["workers"]) * job["completions"]


def test_the_budget_and_the_policy_are_about_these_pods():
    labels = load(FOLDER / POOLS[0])["spec"]["template"]["metadata"]["labels"]
    budget = load(FOLDER / "follow" / "poddisruptionbudget.yaml")["spec"]
    policy = load(FOLDER / "base" / "networkpolicy.yaml")["spec"]

    assert budget["selector"]["matchLabels"] == labels
    assert budget["maxUnavailable"] == 1
    assert policy["podSelector"]["matchLabels"].items() <= labels.items()
    assert policy["ingress"] == []
    (web,) = [
        each for each in policy["egress"] if {"port": 443, "protocol": "TCP"} in each["ports"]
    ]
    assert "169.254.0.0/16" in web["to"][0]["ipBlock"]["except"]


def test_the_hosts_unit_is_the_same_on_every_host():
    parser = configparser.ConfigParser(interpolation=None, strict=True)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(REPO / "deploy" / "systemd" / "nightshift-host.service")
    service = parser["Service"]

    assert "--slots auto" in service["ExecStart"]
    assert "--offset" not in service["ExecStart"]
    assert (service["Restart"], service["KillMode"]) == ("always", "process")
    assert service["RestartPreventExitStatus"].split() == ["2", "78"]
