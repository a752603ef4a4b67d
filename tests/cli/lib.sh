# lib.sh - for tests of the commands: sourced, from the repository root, by
# tests/cli/test_*.sh.  Each check stops the script on failure; `passed` ends it.
# shellcheck shell=bash
set -eu
dapo=${DAPO:-bin/dapo}
name=${0#./}
checks=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034 # for the tests that source this
python=${PYTHON:-/usr/bin/python3}
data=${DAPO_DATA:-../shared/data}

die() {
    echo "$name: $*" >&2
    exit 1
}

# needs_data: the whole script needs the folder of real inputs.
needs_data() {
    [ -d "$data" ] || {
        echo "skipped: $name: no DAPO_DATA"
        exit 77
    }
}

# ok COMMAND...: exit status 0; its output is in $tmp/out and $tmp/err.
ok() {
    local rc=0
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq 0 ] || die "exit status $rc: $* ($(cat "$tmp/err"))"
    checks=$((checks + 1))
}

# fails STATUS PATTERN COMMAND...: this exit status and exactly one line on standard
# error, "dapo: ..." with the extended regular expression PATTERN in it.
fails() {
    local want=$1 pattern=$2 rc=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq "$want" ] ||
        die "exit status $rc, not $want: $* ($(cat "$tmp/err"))"
    if [ "$(wc -l <"$tmp/err")" -ne 1 ] || ! grep -q '^dapo: ' "$tmp/err"; then
        die "not one sentence: $*: $(cat "$tmp/err")"
    fi
    grep -qE -- "$pattern" "$tmp/err" || die "no '$pattern' in: $(cat "$tmp/err")"
    checks=$((checks + 1))
}

# has PATTERN: the last command printed it.  same A B: two files are the same bytes.
has() {
    grep -qE -- "$1" "$tmp/out" || die "no '$1' in: $(head -c 2000 "$tmp/out")"
    checks=$((checks + 1))
}
same() {
    cmp -s "$1" "$2" || die "$1 and $2 differ"
    checks=$((checks + 1))
}

# tiny_model DIR: a small Qwen2 folder without weights, its task's files in DIR-task.
tiny_model() {
    "$dapo" prepare --task arithmetic --out "$1-task" --train 40 --eval 20 --sft 60 \
        --model "$1" --dim 32 --layers 2 --heads 4 --kv-heads 2 --ffn 48 \
        --max-position 256 >/dev/null
}

passed() {
    echo "$name: $checks passed, 0 failed, 0 skipped"
}
