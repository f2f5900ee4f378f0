#!/usr/bin/env bash
# Make this machine ready: a virtualenv from requirements.lock, a MySQL-family server program, and a
# Chromium. What is there is used; what is missing is installed, or named with its remedy (exit 69).
# A virtualenv that is active is the one, unless PYTHON names what to make .venv with. HEADED=1 also
# gets a Chromium with windows, for --headed.
set -euo pipefail
cd "$(dirname "$0")/.."

log=$PWD/.local/setup.log
venv=$PWD/.venv
[[ -n ${VIRTUAL_ENV:-} && -z ${PYTHON:-} ]] && venv=$VIRTUAL_ENV
python=$venv/bin/python
missing=()
apt_is_fresh=no

say() { printf 'setup: %s\n' "$*" >&2; }

# Run a command as root, or fail when this user cannot.
as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    else
        sudo -n "$@"
    fi
}

can_install() {
    command -v apt-get >/dev/null &&
        { [[ $(id -u) == 0 ]] || { command -v sudo >/dev/null && sudo -n true 2>/dev/null; }; }
}

# Run a command with its output in the log, whose end is shown when it fails.
logged() {
    local start
    start=$(stat -c %s "$log")
    "$@" >>"$log" 2>&1 </dev/null && return
    tail -c "+$((start + 1))" "$log" | tail -n 5 >&2
    return 1
}

apt_install() {
    local options=(-q -y --no-install-recommends -o DPkg::Lock::Timeout=120)
    can_install || return 1
    if [[ $apt_is_fresh == no ]]; then
        say "reading the package lists"
        logged as_root apt-get -q -o DPkg::Lock::Timeout=120 update || return 1
        apt_is_fresh=yes
    fi
    say "installing $*"
    logged as_root env DEBIAN_FRONTEND=noninteractive apt-get "${options[@]}" install "$@"
}

is_new_enough() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; }

version_of() { "$1" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

# Print the Python to make .venv with: the one that PYTHON names, or the first that is new enough.
find_python() {
    local name
    for name in ${PYTHON:-python3 python3.14 python3.13 python3.12 python3.11}; do
        if is_new_enough "$name"; then
            command -v "$name"
            return
        fi
    done
    return 1
}

# Make .venv, again if PYTHON wants another version than it has.
make_venv() {
    local base package
    if ! base=$(find_python); then
        missing+=("Python 3.11 or newer: install it, or name it in PYTHON")
        return 1
    fi
    if "$python" -m pip --version >/dev/null 2>&1 &&
        [[ -z ${PYTHON:-} || $(version_of "$python") == "$(version_of "$base")" ]]; then
        return
    fi
    if ! "$base" -c 'import ensurepip, venv' 2>/dev/null; then
        package=python$(version_of "$base")-venv
        if ! apt_install "$package" && ! apt_install python3-venv; then
            missing+=("Python's venv module: apt-get install $package")
            return 1
        fi
    fi
    logged "$base" -m venv --clear "$venv" && return
    missing+=("a virtualenv: the lines above say why; try again once mended")
    return 1
}

# Take the virtualenv that is active as it is.
check_active_venv() {
    if ! is_new_enough "$python"; then
        missing+=("Python 3.11 or newer in the active virtualenv $venv: deactivate it, or name one in PYTHON")
        return 1
    fi
    "$python" -m pip --version >/dev/null 2>&1 || logged "$python" -m ensurepip && return
    missing+=("pip in the active virtualenv $venv: deactivate it, or add pip to it")
    return 1
}

ensure_venv() {
    if [[ $venv == "$PWD/.venv" ]]; then
        make_venv || return 0
    else
        check_active_venv || return 0
    fi
    cmp -s requirements.lock "$venv/requirements.lock" && "$python" -c '' 2>/dev/null && return
    say "installing the Python packages into ${venv#"$PWD/"}"
    logged "$python" -m pip install --disable-pip-version-check --no-input -q \
        --no-deps --require-hashes -r requirements.lock ||
        { missing+=("the Python packages: the lines above say why; try again once mended") && return; }
    cp requirements.lock "$venv/requirements.lock"
}

has_server() {
    local name
    for name in ${NIGHTSHIFT_MYSQLD:-mariadbd mysqld}; do
        PATH=$PATH:/usr/sbin:/usr/local/sbin command -v "$name" >/dev/null && return
    done
    return 1
}

ensure_server() {
    has_server && return
    if [[ -n ${NIGHTSHIFT_MYSQLD:-} ]]; then
        missing+=("NIGHTSHIFT_MYSQLD=$NIGHTSHIFT_MYSQLD is not a program: mend or unset it")
    elif ! apt_install default-mysql-server-core || ! has_server; then
        missing+=("a MySQL-family server: apt-get install default-mysql-server-core")
    fi
}

runs() { "$1" --version >/dev/null 2>&1 </dev/null; }

# Playwright brings its own Node, which needs a library that a minimal Debian lacks.
ensure_driver() {
    [[ -x $python ]] || return 0
    "$python" -m playwright --version >/dev/null 2>&1 && return
    apt_install libatomic1 && logged "$python" -m playwright --version && return
    missing+=("what Playwright's driver needs: apt-get install libatomic1")
}

# Print what Playwright would download, one "key: value" a line; nothing is fetched.
playwright_plan() {
    "$python" -m playwright install --dry-run --only-shell chromium 2>/dev/null
}

has_playwright_shell() {
    local folder shell
    folder=$(playwright_plan | sed -n 's/^ *Install location: *//p' | grep headless) || return 1
    [[ -e $folder/INSTALLATION_COMPLETE ]] || return 1
    for shell in "$folder"/*/*headless*shell; do
        runs "$shell" && return
    done
    return 1
}

has_browser() {
    local name
    if [[ -n ${NIGHTSHIFT_BROWSER:-} ]]; then
        runs "$NIGHTSHIFT_BROWSER"
        return
    fi
    for name in chromium-headless-shell chromium google-chrome google-chrome-stable; do
        command -v "$name" >/dev/null && runs "$name" && return
    done
    has_playwright_shell
}

# Ask for one byte of the download, so that a network that refuses costs seconds and not minutes.
download_is_possible() {
    local url
    url=$(playwright_plan | sed -n 's/^ *Download url: *//p' | grep headless | head -n 1) || return 1
    timeout 15 "$python" - "$url" 2>/dev/null <<'PROBE'
import sys
import urllib.request

request = urllib.request.Request(sys.argv[1], headers={"Range": "bytes=0-0"})
urllib.request.urlopen(request, timeout=10).read(1)
PROBE
}

download_browser() {
    download_is_possible || return 1
    say "downloading Chromium's headless shell"
    logged timeout 900 "$python" -m playwright install --only-shell chromium || return 1
    has_playwright_shell && return
    can_install || return 1
    say "installing the libraries it needs"
    logged as_root env DEBIAN_FRONTEND=noninteractive "$python" -m playwright \
        install-deps chromium-headless-shell || return 1
    has_playwright_shell
}

ensure_browser() {
    has_browser && return
    if [[ -n ${NIGHTSHIFT_BROWSER:-} ]]; then
        missing+=("NIGHTSHIFT_BROWSER=$NIGHTSHIFT_BROWSER does not run: mend or unset it")
        return
    fi
    [[ -x $python ]] && download_browser && return
    { apt_install chromium-headless-shell || apt_install chromium; } && has_browser && return
    missing+=("a Chromium: apt-get install chromium-headless-shell (or chromium)")
}

# Print where Playwright would keep a Chromium with windows; nothing is fetched.
playwright_full_plan() {
    "$python" -m playwright install --dry-run --no-shell chromium 2>/dev/null |
        sed -n 's/^ *Install location: *//p' | head -n 1
}

has_playwright_full() {
    local folder program
    folder=$(playwright_full_plan) && [[ -n $folder && -e $folder/INSTALLATION_COMPLETE ]] || return 1
    for program in "$folder"/*/chrome; do
        runs "$program" && return
    done
    return 1
}

has_full_browser() {
    local name
    for name in ${NIGHTSHIFT_BROWSER:-} chromium chromium-browser google-chrome-stable google-chrome; do
        [[ ${name##*/} != *headless* ]] && command -v "$name" >/dev/null && runs "$name" && return
    done
    [[ -x $python ]] && has_playwright_full
}

download_full_browser() {
    download_is_possible || return 1
    say "downloading Chromium"
    logged timeout 900 "$python" -m playwright install --no-shell chromium || return 1
    has_playwright_full && return
    can_install || return 1
    say "installing the libraries it needs"
    logged as_root env DEBIAN_FRONTEND=noninteractive "$python" -m playwright install-deps chromium ||
        return 1
    has_playwright_full
}

# Only where it is asked for: it takes about twice as long for a page as the headless shell.
ensure_full_browser() {
    [[ -n ${HEADED:-} && ${HEADED:-} != 0 ]] || return 0
    has_full_browser && return
    [[ -x $python ]] && download_full_browser && return
    apt_install chromium && has_full_browser && return
    missing+=("a Chromium with windows: apt-get install chromium")
}

# Some tests want a real proxy; without one they are skipped, and nothing else needs it.
ensure_test_proxy() {
    PATH=$PATH:/usr/sbin command -v tinyproxy >/dev/null || apt_install tinyproxy-bin ||
        say "no tinyproxy: tests with a real proxy are skipped (apt-get install tinyproxy-bin)"
}

mkdir -p .local
: >"$log"
ensure_venv
ensure_server
ensure_driver
ensure_browser
ensure_full_browser
ensure_test_proxy
if ((${#missing[@]})); then
    printf 'setup: missing %s\n' "${missing[@]}" >&2
    exit 69
fi
touch "$venv/.ready"
say "ready"
