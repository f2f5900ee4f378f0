#!/usr/bin/env bash
# Make a bare Debian in a scratch folder, clone the committed project into it and run README's two
# commands there. SUITE names the release; the arguments go to pytest. Needs root and debootstrap.
# Mounts and processes have namespaces of their own, which end with this script, however it ends.
set -euo pipefail
cd "$(dirname "$0")/.."

suite=${SUITE:-trixie}

say() { printf 'test-fresh: %s\n' "$*" >&2; }
give_up() {
    say "$*"
    exit 69
}

# Print the address of the Debian archive that this machine itself installs from.
find_mirror() {
    # shellcheck disable=SC2016 # apt-get fills it in
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' |
        awk '/\/debian\/?$/ && !found++'
}

make_system() {
    say "making a bare Debian ($suite)"
    debootstrap --force-check-gpg --variant=minbase --include=git,make,python3,ca-certificates \
        "$suite" "$root" "$mirror" >"$root.log" 2>&1 && return
    tail -n 5 "$root.log" >&2
    give_up "debootstrap failed"
}

# Give the system this machine's way to the network, and nothing else of it.
connect_system() {
    local file
    cp -L /etc/hosts /etc/resolv.conf "$root/etc/"
    if [[ -d /usr/local/share/ca-certificates ]]; then
        cp -r /usr/local/share/ca-certificates "$root/usr/local/share/"
    fi
    chroot "$root" update-ca-certificates >>"$root.log" 2>&1
    apt-config dump | { grep -iE '^Acquire::(https?|Check-Valid-Until)' || true; } \
        >"$root/etc/apt/apt.conf.d/99machine"
    for file in /etc/pip.conf ~/.config/pip/pip.conf ~/.pip/pip.conf; do
        if [[ -r $file ]]; then install -D "$file" "$root${file/#$HOME//root}"; fi
    done
}

mount_devices() {
    # Its / is a mount, as on a real machine: namespaces can then be made inside.
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --bind /dev "$root/dev"
    mount --bind /dev/pts "$root/dev/pts"
    mount -t tmpfs tmpfs "$root/dev/shm"
}

# Run a command in the clone with an empty environment, but for what leads to the network.
inside() {
    local network start=$SECONDS
    mapfile -t network < <(env | grep -iE '^(PIP_[A-Z_]+|(https?|no|all)_proxy)=')
    say "$*"
    chroot "$root" /usr/bin/env -i -C /root/nightshift HOME=/root \
        PATH=/usr/sbin:/usr/bin:/sbin:/bin "${network[@]}" "$@"
    say "$1 $2 passed in $((SECONDS - start)) s"
}

try_everything() {
    make_system
    connect_system
    mount_devices
    git clone -q . "$root/root/nightshift"
    # Without a terminal, since an interrupted display would leave the cursor hidden.
    inside make run |& cat
    inside make test ARGS="${*@Q}"
}

# End the namespaces' first process, and with it all others and the mounts; then remove the folder.
clean_up() {
    local first
    if [[ -n $job ]] && first=$(cat "/proc/$job/task/$job/children"); then
        # shellcheck disable=SC2086 # it ends in a space, and is empty at the very start
        kill -KILL ${first:-$job} || true
        wait "$job" || true
    fi 2>/dev/null
    if grep -qF " $scratch" /proc/self/mountinfo; then
        say "left $scratch: something is still mounted there"
    else
        rm -rf --one-file-system "$scratch"
    fi
}

if [[ ${1-} == --in-namespaces ]]; then
    root=$2 mirror=$3
    exec 2>&3 3>&-
    try_everything "${@:4}"
    exit
fi

[[ $(id -u) == 0 ]] || give_up "needs root, to mount and chroot"
command -v debootstrap >/dev/null || give_up "needs debootstrap: apt-get install debootstrap"
mirror=$(find_mirror)
[[ -n $mirror ]] || give_up "no Debian archive in this machine's apt sources"
[[ -z $(git status --porcelain) ]] || say "what is not committed is not tested"

job=
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/nightshift-fresh.XXXXXX")
trap clean_up EXIT
trap 'exit 130' INT TERM HUP
# With job control the command is not deaf to Ctrl-C, as other background commands are.
set -m
setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc \
    "$PWD/deploy/test-fresh.sh" --in-namespaces "$scratch/root" "$mirror" "$@" \
    </dev/null 3>&2 2>"$scratch/unshare.log" &
job=$!
wait "$job" || {
    status=$?
    # Only on failure: it also holds unshare's complaint about a command that was interrupted.
    cat "$scratch/unshare.log" >&2
    exit "$status"
}
