#!/usr/bin/env bash
# test_inject.sh - every fault point on every rank of 3 and of 5: one sentence, from the
# rank that failed, the exit code of its kind, no rank left behind and no hang; a run that
# goes on afterwards ends with the bits of an undisturbed one.
#
# NTH runs through 1, 2, 3, 5, 8 ... until a rank no longer comes that often.  An argument
# names the only points to try.
. tests/cli/lib.sh
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
compare=$PWD/tests/cli/compare_runs.py
job=$tmp/c/job.ini
points=$(sed -n 's/^ *X([A-Z_]*, "\([a-z_]*\)", FAULT_\([A-Z]*\),.*/\1:\2/p' include/dapo/inject.h)
[[ $# -eq 0 ]] || points=$(grep -E "^($1):" <<<"$points")
cd "$tmp/c/in"

# train RANKS NAME ARGUMENTS...: two steps with a checkpoint after each.
train() {
    local ranks=$1 run=$2
    shift 2
    on "$ranks" timeout -k 5 60 "$dapo" train "$job" --set run.dir="$tmp/runs" \
        --set run.name="$run" --set run.steps=3 --set run.save_every=1 --set run.keep=1 \
        --set ranks.learners=$((1 + ranks / 4)) "$@"
}
status() { case $1 in FILE) echo 74 ;; SYSTEM) echo 71 ;; esac }

# strike RANKS POINT:CODE RANK NTH: 0 if the point was reached.
strike() {
    local ranks=$1 point=${2%:*} code rank=$3 nth=$4 rc=0 err
    code=$(status "${2#*:}")
    rm -rf "$tmp/runs/struck"
    [[ $point != resume && $point != read ]] || cp -r "$tmp/runs/half" "$tmp/runs/struck"
    SECONDS=0
    err=$(train "$ranks" struck --set "debug.fault=$point:$rank:$nth" 2>&1 >/dev/null) || rc=$?
    ((SECONDS < 30)) || die "$point:$rank:$nth on $ranks ranks took $SECONDS s"
    ((rc)) || return 1
    [[ $rc -eq $code ]] ||
        die "$point:$rank:$nth on $ranks ranks: exit status $rc, not $code: $err"
    [[ $(grep -c "debug.fault: $point number $nth fails" <<<"$err") -eq 1 ]] ||
        die "$point:$rank:$nth on $ranks ranks: not one sentence: $err"
    grep -q "rank $rank: \|ending the job\|r000$rank" <<<"$err" || ((ranks == 1)) ||
        die "$point:$rank:$nth on $ranks ranks: not from rank $rank: $err"
    checks=$((checks + 1))
}

for ranks in 3 5; do
    rm -rf "$tmp/runs"
    train "$ranks" calm >/dev/null 2>&1 || die "an undisturbed run of $ranks ranks failed"
    train "$ranks" half --set run.keep=0 >/dev/null 2>&1 || die "no run to go on with"
    rm "$tmp"/runs/half/*/step-00000[23].h5 # as if killed after its first step
    for point in $points; do
        struck=0
        for ((rank = 0; rank < ranks; rank++)); do
            a=1 b=2
            while strike "$ranks" "$point" "$rank" "$a"; do
                struck=$((struck + 1)) c=$((a + b)) a=$b b=$c
            done
        done
        ((struck)) || die "no rank of $ranks came through ${point%:*}"
        echo "$ranks ranks, ${point%:*}: $struck passages failed"
        # The last one's run, if it got anywhere, goes on.
        train "$ranks" struck >/dev/null 2>&1 || die "no resuming after ${point%:*}"
        ok "$python" "$compare" trained,tokens,weights,metrics "$tmp/runs/calm" "$tmp/runs/struck"
    done
done
passed
