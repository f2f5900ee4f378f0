#!/usr/bin/env bash
# Run the unit tests with each Python from 3.11 to 3.14 that is found on PATH or with pyenv: each in a
# scratch clone of the last commit, with its own virtualenv. ARGS chooses other tests; KEEP=1 leaves
# the clones for a look. A Python that is not here is named, and is no failure.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=${ARGS:-tests/unit --ignore-glob=*test_setup* -q}
scratch=$(mktemp -d)
[[ -n ${KEEP:-} ]] || trap 'rm -rf "$scratch"' EXIT
failed=0

say() { printf 'test-pythons: %s\n' "$*"; }

# A shim of pyenv's is there for every version, but refuses those that are not chosen.
find_python() {
    local path
    for path in "$(command -v "python$1" || true)" "$HOME"/.pyenv/versions/"$1".*/bin/"python$1"; do
        if [[ -x $path ]] && "$path" -c 'import ensurepip, venv' 2>/dev/null; then
            printf '%s\n' "$path"
            return
        fi
    done
    return 1
}

for version in 3.11 3.12 3.13 3.14; do
    if ! found=$(find_python "$version"); then
        say "$version is not here"
        continue
    fi
    clone=$scratch/$version
    git clone -q . "$clone"
    if env -u VIRTUAL_ENV make -s -C "$clone" test PYTHON="$found" ARGS="$tests" \
        >"$scratch/$version.log" 2>&1; then
        say "$("$found" -V | cut -d' ' -f2): $(tail -n 1 "$scratch/$version.log")"
    else
        say "$("$found" -V | cut -d' ' -f2) FAILED"
        tail -n 40 "$scratch/$version.log"
        failed=1
    fi
done
exit "$failed"
