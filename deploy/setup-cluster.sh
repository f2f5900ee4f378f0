#!/usr/bin/env bash
# Install what drills and tests of clusters need beside the usual set-up: HAProxy, Galera's library
# and iproute2. What is there is used; without root the packages are named in one line (exit 69).
set -euo pipefail

packages=(haproxy galera-4 iproute2)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
((${#missing[@]})) || exit 0
if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    printf 'setup-cluster: missing packages; as root: apt-get install %s\n' "${missing[*]}" >&2
    exit 69
fi
printf 'setup-cluster: installing %s\n' "${missing[*]}" >&2
apt-get -qq update >/dev/null
DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends "${missing[@]}" >/dev/null
