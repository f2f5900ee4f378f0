#!/usr/bin/env bash
# Install what `make bench` compares with: Redis and PostgreSQL from Debian's packages, and the peers'
# Python packages in a virtualenv of their own, .local/peers. What is there is used; a second call does
# no work. The packages' own services are not started: the bench starts servers in scratch folders.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'setup-peers: %s\n' "$*" >&2; }
give_up() {
    say "$*"
    exit 69
}

packages=()
command -v redis-server >/dev/null || packages+=(redis-server)
compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null || packages+=(postgresql)
if ((${#packages[@]})); then
    if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
        give_up "missing packages; as root: apt-get install ${packages[*]}"
    fi
    policy=/usr/sbin/policy-rc.d
    if [[ ! -e $policy ]]; then
        # This is how Debian's packages are told to start nothing while they are installed.
        printf '#!/bin/sh\nexit 101\n' >"$policy"
        chmod +x "$policy"
        trap 'rm -f "$policy"' EXIT
    fi
    say "installing ${packages[*]}"
    apt-get -qq update >/dev/null || true
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${packages[@]}" >/dev/null ||
        give_up "apt-get cannot install ${packages[*]} now"
fi

place=.local/peers
wanted=bench/peers/requirements.txt
cmp -s "$wanted" "$place/installed.txt" && exit 0
say "installing the peers' Python packages into $place"
rm -rf "$place"
"${PYTHON:-python3}" -m venv "$place"
"$place/bin/python" -m pip install -q --disable-pip-version-check --require-hashes -r "$wanted" \
    >"$place/install.log" 2>&1 || give_up "the packages of $wanted cannot be installed; see $place/install.log"
cp "$wanted" "$place/installed.txt"
