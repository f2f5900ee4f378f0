#!/usr/bin/env bash
# Install what a few tests use and nothing else needs: promtool, and a screen in memory with a Chromium
# that has windows. What is there is used; without root and apt, or where a package cannot be had, those
# tests are skipped, and say what they miss. Of the package prometheus only the one program is taken: as
# a package it would start a server.
set -euo pipefail

if [[ $(id -u) != 0 ]] || ! command -v apt-get >/dev/null; then
    exit 0
fi

say() { printf 'setup-tests: %s\n' "$*" >&2; }
is_missing() { ! command -v "$1" >/dev/null; }

# Do something with the package lists that there are, then with new ones.
with_lists() {
    "$@" && return
    apt-get -qq -o DPkg::Lock::Timeout=120 update >/dev/null 2>&1 && "$@"
}

install_packages() {
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y -o DPkg::Lock::Timeout=120 \
        install --no-install-recommends "$@" >/dev/null 2>&1
}

take_promtool() {
    local folder status=0
    folder=$(mktemp -d)
    # apt's own user cannot write there, and says so.
    (cd "$folder" && apt-get -qq download prometheus) >/dev/null 2>&1 &&
        dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$folder" ./usr/bin/promtool &&
        install -m 755 "$folder/usr/bin/promtool" /usr/local/bin/promtool || status=$?
    rm -rf "$folder"
    return "$status"
}

packages=()
if is_missing Xvfb; then packages+=(xvfb); fi
if is_missing chromium; then packages+=(chromium); fi
wanted=("${packages[@]}")
if is_missing promtool; then wanted+=(promtool); fi
((${#wanted[@]})) || exit 0

say "getting ${wanted[*]}, for a few tests"
((${#packages[@]} == 0)) || with_lists install_packages "${packages[@]}" ||
    say "cannot install ${packages[*]}: their tests are skipped"
! is_missing promtool || with_lists take_promtool || say "no promtool: its tests are skipped"
