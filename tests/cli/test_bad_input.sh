#!/usr/bin/env bash
# Broken job files, model folders, tokenizers and prompt files: `dapo train` answers each
# with one sentence and its exit status on every number of ranks, and never hangs.
. tests/cli/lib.sh
read -ra mpirun <<<"${MPIRUN:-mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 --mca btl_vader_single_copy_mechanism none}"
tiny_model "$tmp/m"
cat >"$tmp/sft.ini" <<X
[run]
steps = 1
[model]
path = $tmp/m
init = random
[data]
train = $tmp/m-task/sft.jsonl
[prompt]
max_tokens = 200
[rollout]
max_tokens = 16
[reward]
overlong = off
[sft]
batch = 2
out = $tmp/sft
X
ok "$dapo" sft "$tmp/sft.ini"
mkdir "$tmp/bad"
"$python" tests/cli/bad_input.py "$tmp/sft" "$tmp/m-task/train.jsonl" "$tmp/bad" >"$tmp/cases"

# refuses STATUS PATTERN COMMAND...: as fails, but mpirun may add its own lines.
refuses() {
    local want=$1 pattern=$2 rc=0 err
    shift 2
    err=$(timeout -k 2 20 "$@" 2>&1 >/dev/null </dev/null) || rc=$?
    [ $rc -eq "$want" ] || die "exit status $rc, not $want: $* (${err:0:2000})"
    [ "$(grep -c 'dapo: ' <<<"$err")" -eq 1 ] || die "not one sentence: $*: ${err:0:2000}"
    grep -qE -- "^dapo: .*($pattern)" <<<"$err" ||
        die "no '$pattern': $*: $(grep '^dapo: ' <<<"$err")"
    checks=$((checks + 1))
}

# The sound job runs, or the cases would prove nothing.
ok "$dapo" train "$tmp/bad/sound.ini"
rm -r "$tmp/bad/runs"

# one NUMBER JOB STATUS PATTERN: alone, on 3 ranks, some also by mpirun on 1 and 2.
one() {
    refuses "$3" "$4" "$dapo" train "$2"
    refuses "$3" "$4" "${mpirun[@]}" -n 3 "$dapo" train "$2"
    [ $(($1 % 8)) -eq 0 ] || return 0
    refuses "$3" "$4" "${mpirun[@]}" -n 1 "$dapo" train "$2"
    refuses "$3" "$4" "${mpirun[@]}" -n 2 "$dapo" train "$2"
}

# mpirun spends its time waiting: several cases at once.
n=0
running=()
finish() {
    for pid in ${running[@]+"${running[@]}"}; do
        wait "$pid" || exit 1 # it has said why
    done
    running=()
}
while IFS=$'\t' read -r job status words; do
    one $n "$job" "$status" "$words" &
    running+=($!)
    n=$((n + 1))
    [ ${#running[@]} -lt 6 ] || finish
done <"$tmp/cases"
finish
checks=$((checks + 2 * n))
[ $n -ge 50 ] || die "only $n cases"

# What only shows with several ranks.
refuses 78 'leaves no rank to generate' "${mpirun[@]}" -n 2 "$dapo" train "$tmp/bad/sound.ini" \
    --set ranks.learners=2
refuses 64 'unknown option' "${mpirun[@]}" -n 2 "$dapo" train "$tmp/bad/sound.ini" --wrong
passed
