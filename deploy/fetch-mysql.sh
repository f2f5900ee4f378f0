#!/usr/bin/env bash
# Fetch Oracle's MySQL 9.7 from Debian sid into .local/mysql-9.7, with every library it needs, and
# leave a wrapper there that runs it. Nothing on the system changes; a second call does no work.
# The mirror and its keys are those of this machine's own apt sources.
set -euo pipefail
cd "$(dirname "$0")/.."

target=$PWD/.local/mysql-9.7
wrapper=$target/mysqld

say() { printf 'mysql-9.7: %s\n' "$*" >&2; }
give_up() {
    say "$*"
    exit 69
}

# Print "URI<tab>keyring" of the first Debian archive in either format of apt sources.
find_mirror() {
    local file
    for file in /etc/apt/sources.list.d/*.sources; do
        [[ -r $file ]] || continue
        awk 'function flush() { if (uri && !off) print uri "\t" key; uri = key = ""; off = 0 }
            /^#/ { next }
            /^[ \t]*$/ { flush(); next }
            tolower($1) == "uris:" { uri = $2 }
            tolower($1) == "signed-by:" { key = $2 }
            tolower($1) == "enabled:" && tolower($2) == "no" { off = 1 }
            END { flush() }' "$file"
    done
    for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
        [[ -r $file ]] || continue
        sed -nE 's/^deb[ \t]+(\[[^]]*\][ \t]+)?([^ \t]+)[ \t].*/\2\t\1/p' "$file" |
            sed -E 's/\t.*signed-by=([^] ,]+).*/\t\1/; s/\t\[.*/\t/'
    done
}

if [[ -x $wrapper ]] && "$wrapper" --version >/dev/null 2>&1; then
    say "already there"
    exit 0
fi
command -v apt-get >/dev/null || give_up "needs apt-get, that is Debian or Ubuntu"

IFS=$'\t' read -r mirror keyring < <(find_mirror | awk -F '\t' '$1 ~ /\/debian\/?$/ { print; exit }') ||
    give_up "no Debian mirror in this machine's apt sources; set NIGHTSHIFT_MYSQLD to a MySQL 9.7"
[[ -f $keyring ]] || keyring=/usr/share/keyrings/debian-archive-keyring.gpg
[[ -f $keyring ]] || give_up "needs the archive's keys; install debian-archive-keyring"

work=$target.partial
rm -rf "$work"
mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/apt/empty"
: >"$work/apt/status"
printf 'deb [signed-by=%s] %s sid main\n' "$keyring" "$mirror" >"$work/apt/sources.list"
apt_options=(
    -qq
    -o "Dir::Etc::sourcelist=$work/apt/sources.list"
    -o "Dir::Etc::sourceparts=$work/apt/empty"
    -o "Dir::Etc::preferencesparts=$work/apt/empty"
    -o "Dir::State::lists=$work/apt/lists"
    -o "Dir::State::status=$work/apt/status"
    -o "Dir::Cache=$work/apt/cache"
    -o "APT::Sandbox::User="
    -o "APT::Install-Recommends=false"
    -o "Debug::NoLocking=true"
)
say "reading the package lists of sid"
apt-get "${apt_options[@]}" update || give_up "the mirror does not answer for sid"
say "downloading the server and its libraries (60 MB)"
DEBIAN_FRONTEND=noninteractive apt-get "${apt_options[@]}" install -d -y mysql-server-core >/dev/null ||
    give_up "sid's mysql-server-core cannot be downloaded now"
for package in "$work"/apt/cache/archives/*.deb; do
    dpkg -x "$package" "$work"
done
rm -rf "$work/apt" "$work/usr/share/doc" "$work/usr/share/man" "$work/usr/share/locale"

loader=$(cd "$work" && find usr/lib -name 'ld-linux*.so.*' -print -quit)
[[ -n $loader ]] || give_up "the download holds no dynamic loader"
cat >"$work/mysqld" <<WRAPPER
#!/bin/sh
# Run MySQL 9.7 with its own libraries. --no-defaults only counts as the first option.
here=\$(dirname "\$(readlink -f "\$0")")
[ "\${1-}" = --no-defaults ] && shift
exec "\$here/$loader" --library-path "\$here/$(dirname "$loader")" "\$here/usr/sbin/mysqld" \\
    --no-defaults --basedir="\$here/usr" --lc-messages-dir="\$here/usr/share/mysql" \\
    --plugin-dir="\$here/usr/lib/mysql/plugin" --mysqlx=OFF --secure-file-priv=NULL "\$@"
WRAPPER
chmod +x "$work/mysqld"
version=$("$work/mysqld" --version) || give_up "the downloaded server does not run here"
rm -rf "$target"
mv "$work" "$target"
say "ready: ${version#*Ver }"
