#!/usr/bin/env bash
# Write requirements.lock anew after a change of pyproject.toml's dependencies: what is pinned stays,
# unless UPGRADE=1. Needs pip-tools, which nothing else does: it goes into a virtualenv of its own.
set -euo pipefail
cd "$(dirname "$0")/.."

tools=.local/pip-tools
[[ -x $tools/bin/pip-compile ]] || {
    python3 -m venv "$tools"
    "$tools/bin/python" -m pip install -q --disable-pip-version-check pip-tools
}
wanted=$(mktemp)
trap 'rm -f "$wanted"' EXIT
python3 - >"$wanted" <<'LIST'
import tomllib
from pathlib import Path

file = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
extras = file["project"].get("optional-dependencies", {}).values()
for group in (file["project"]["dependencies"], *extras, file["dependency-groups"]["dev"]):
    print(*group, sep="\n")
LIST
"$tools/bin/pip-compile" -q ${UPGRADE:+--upgrade} --generate-hashes --no-annotate --no-header \
    --strip-extras --allow-unsafe --no-emit-index-url --no-emit-options --no-emit-find-links \
    --no-emit-trusted-host --output-file requirements.lock "$wanted"
sed -i '1i # Every package of pyproject.toml (runtime and dev), pinned with its hashes by pip-compile.' \
    requirements.lock
