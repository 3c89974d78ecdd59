#!/bin/sh
#
# bench/deps.sh PACKAGES...: installs those of the Debian packages that are missing.
#
# Without apt-get it only says what is needed, and exits with 0 if pkg-config finds all of it,
# with 2 if not.
set -eu

modules="libcjson libpcre2-8 sqlite3 libcrypto cmocka"

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    echo "no apt-get here. Debian calls the packages: $*"
    absent=
    for m in $modules; do
        pkg-config --exists "$m" 2>/dev/null || absent="$absent $m"
    done
    if [ -n "$absent" ]; then
        echo "pkg-config does not find:$absent"
        echo "install these with their headers, and pkg-config, a C11 compiler and GNU make"
        exit 2
    fi
    echo "pkg-config finds all of: $modules"
    exit 0
fi

# True if a package is installed, or another one that provides it (pkg-config is pkgconf by now).
is_installed() {
    dpkg-query -W -f '${db:Status-Status} ${Package}, ${Provides}\n' 2>/dev/null |
        grep -qE "^installed (.*, )?$(echo "$1" | sed 's/[.+]/\\&/g')( |,|$)"
}

missing=
for p; do
    is_installed "$p" || missing="$missing $p"
done
[ -z "$missing" ] && exit 0

as_root=
if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
        echo "missing:$missing. There is no sudo here; as root, run: apt-get install$missing" >&2
        exit 2
    fi
    as_root=sudo
fi

echo "installing:$missing"
$as_root apt-get update -qq ||
    echo "apt-get update failed; going on with the package lists at hand" >&2
# shellcheck disable=SC2086 # a list of words
$as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing
