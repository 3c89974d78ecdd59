#!/usr/bin/env bash
#
# tests/lint/lint.sh: format, static analysis, include laws, size limits, banned functions and
# shell scripts, over all files that git knows or would add. Exit code 1 if anything is wrong.
set -u
cd "$(dirname "$0")/../.." || exit 2

errors=0

files() {
    if [ -e .git ]; then
        git ls-files -co --exclude-standard -- "$@" | while read -r f; do
            [ -f "$f" ] && echo "$f"
        done
    else
        for pattern; do
            find . -path ./build -prune -o -type f -path "*${pattern#\*}" -print
        done | sed 's|^\./||' | sort
    fi
}

# check TITLE COMMAND...
check() {
    local title=$1
    shift
    if "$@"; then
        echo "ok    $title"
    else
        echo "FAIL  $title"
        errors=$((errors + 1))
    fi
}

need() {
    command -v "$1" >/dev/null && return 0
    echo "$1 is missing: apt-get install $1"
    return 1
}

format() {
    need clang-format && clang-format --dry-run -Werror "${sources[@]}"
}

sizes() {
    awk -f tests/lint/sizes.awk "${sources[@]}"
}

# banned PATTERN WHY FILES...: the pattern is a list of function names, a|b|c.
banned() {
    local pattern=$1 why=$2 found=0 f
    shift 2
    for f; do
        # shellcheck disable=SC2016 # the dollars are awk's
        awk -f tests/lint/code.awk "$f" | grep -nE "(^|[^A-Za-z0-9_])($pattern)[ ]*\(" |
            sed "s|^|$f:|; s|\$|   <- $why|" | grep . && found=1
    done
    return $found
}

banned_functions() {
    local good=0
    banned 'strcpy|strcat|sprintf|vsprintf|gets|strtok|atoi|atol|atof|rand|srand|system|popen|alloca' \
        'banned everywhere' "${sources[@]}" || good=1
    banned 'exit|_exit|_Exit|abort|printf|vprintf|puts|putchar|perror|getenv|setenv|setlocale' \
        'libraries never print, exit or read the environment' "${libraries[@]}" || good=1
    return $good
}

# Exhaustive value analysis is for nights; these are the checks with few false alarms.
static_analysis() {
    need cppcheck && cppcheck --quiet --std=c11 --platform=unix64 -j 2 --error-exitcode=1 \
        --enable=warning,performance,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=unmatchedSuppression \
        -D_POSIX_C_SOURCE=200809L -D__x86_64__=1 -Iinclude src
}

scripts() {
    local list=() cases=() f
    need shellcheck || return 1
    while read -r f; do
        case $f in
        tests/cli/*) cases+=("$f") ;;
        *) head -n 1 "$f" | grep -qE '^#!.*[/ ](ba)?sh' && list+=("$f") ;;
        esac
    done < <(files '*.sh' '.ci/*' 'bench/*')
    shellcheck "${list[@]}" || return 1
    [ ${#cases[@]} -eq 0 ] || shellcheck -s sh -e SC2154 "${cases[@]}"
}

# Paths of the machine on which somebody happened to work.
foreign_paths() {
    local found
    found=$(files '*' | tr '\n' '\0' |
        xargs -0 grep -nIE '(^|[^A-Za-z0-9_.])/(work|root)/[A-Za-z.]|/tmp/(build-|bash_)[a-z]' --)
    [ -z "$found" ] && return 0
    echo "$found"
    return 1
}

mapfile -t sources < <(files '*.c' '*.h')
mapfile -t libraries < <(files 'src/*.c' 'src/*.h' | grep -v '^src/cli/')

check "format" format
check "include laws" tests/lint/layers.sh
check "size limits" sizes
check "banned functions" banned_functions
check "static analysis" static_analysis
check "scripts" scripts
check "paths of this machine" foreign_paths

[ $errors -eq 0 ]
