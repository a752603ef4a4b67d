#!/usr/bin/env bash
# test_watch.sh - what a run notices of itself and its surroundings: a rank that hangs or
# dies, the same prompt under two crashes, the file stop, the allocation's end.
. tests/cli/lib.sh
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
compare=$PWD/tests/cli/compare_runs.py
cd "$tmp/c/in"
runs=$tmp/c/runs

# train NAME ARGUMENTS...: on 3 ranks; the exit status in $rc, all output in $tmp/log.
train() {
    local run=$1
    shift
    rc=0
    on 3 "$dapo" train "$tmp/c/job.ini" --set run.name="$run" --set run.log=info \
        --set rollout.slice=1 --set data.eval= "$@" >"$tmp/log" 2>&1 || rc=$?
}
ends() { # STATUS PATTERN...: so did the last run
    [ "$rc" -eq "$1" ] || die "exit status $rc, not $1: $(cat "$tmp/log")"
    shift
    for pattern; do
        grep -qE -- "$pattern" "$tmp/log" || die "no '$pattern' in: $(cat "$tmp/log")"
    done
    checks=$((checks + 1))
}
like_calm() {
    ok "$python" "$compare" trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/$1"
}
train calm
ends 0 'launcher=mpirun nodes=1 ranks_here=3 .*pmix=.*watchdog=600 s time_limit=none'

echo "a rank that hangs: named with its last words, 75, and on to the same bits"
train hung --set debug.fault=generate:2:5:hang --set train.watchdog_s=2
ends 75 'nothing has progressed for [0-9]+ s on any rank' \
    'rank 2 on .*: silent or behind: phase generate, step [12], tick' \
    'rank 1 on .*: waits: phase generate'
grep -qE '^job=[0-9]+ step=[12] rank=2 how=0 rows=[0-9,]+$' "$runs/hung/deaths" ||
    die "no record of the hang: $(cat "$runs/hung/deaths")"
train hung
ends 0 'done steps=3'
like_calm hung

echo "a long update is no hang: computing is a sign of life"
(
    cd "$OLDPWD"
    "$dapo" prepare --task arithmetic --out "$tmp/task" --train 200 --eval 10 --sft 10 \
        >/dev/null
    LIMIT=120 on 2 "$dapo" train jobs/demo_dapo.ini --set run.dir="$runs" \
        --set run.name=busy --set data.train="$tmp/task/train.jsonl" --set data.eval= \
        --set run.steps=1 --set admission.groups=120 --set optimizer.updates_per_step=1 \
        --set admission.dynamic=false --set optimizer.microbatch_tokens=1024 \
        --set train.watchdog_s=2 --set run.log=info
) >"$tmp/log" 2>&1 || die "a busy rank was taken for a silent one: $(cat "$tmp/log")"
rc=0
ends 0 'learn=([3-9]|[1-9][0-9])\.[0-9]+s' 'done steps=1'

echo "a rank that is killed: its peers name it; nobody is to blame, the bits stay"
for _ in 1 2; do
    train killed --set debug.fault=generate:1:5:kill
    ends 137 'r000[02] rank 1 \(process [0-9]+ on .*\) has died; here: generate'
done
[ ! -e "$runs/killed/deaths" ] || die "a kill is no crash: $(cat "$runs/killed/deaths")"
train killed
ends 0 'done steps=3'
like_calm killed

echo "the launcher is killed: no rank outlives it, and the run is free for the next start"
train orphaned --set run.steps=4000 &
job=$!
until_file "$runs/orphaned/rollouts/step-000002.h5" $job
ranks_left() { pgrep -f "^$dapo train $tmp/c/job.ini --set run.name=orphaned"; }
kill -KILL "$(ps -o ppid= -p "$(ranks_left | head -n 1)" | tr -d ' ')"
wait $job
for ((i = 0; i < 1000; i++)); do
    ranks_left >/dev/null || break
    sleep 0.02
done
! ranks_left >/dev/null || die "ranks without a launcher: $(ranks_left)"
grep -q 'the launcher has died' "$runs/orphaned/log.txt" || die "$(tail "$runs/orphaned/log.txt")"
train orphaned --set run.steps=2
ends 0 'done steps='
ok "$dapo" verify --quiet "$runs/orphaned"

echo "two crashes over the same prompts: these are set aside, by name, and the run goes on"
for _ in 1 2; do
    train poisoned --set debug.fault=generate:1:5:crash
    ends 139 'rank 1 .*has died'
done
[ "$(grep -cE '^job=[0-9]+ step=1 rank=1 how=11 rows=' "$runs/poisoned/deaths")" -eq 2 ] ||
    die "not two crashes: $(cat "$runs/poisoned/deaths")"
train poisoned --set run.steps=2
ends 0 'prompt [0-9]+ was in work on a rank that died, 2 times in a row: it is set aside' \
    'done steps=2'
"$python" - "$runs/poisoned" <<'END' || die "the prompts set aside were generated for"
import sys, h5py
run = sys.argv[1]
rows = {int(line) for line in open(run + "/poison")}
seen = 0
for step in 1, 2:
    with h5py.File(f"{run}/rollouts/step-{step:06d}.h5") as f:
        fates = {v: k for k, v in h5py.check_enum_dtype(f["candidates/fate"].dtype).items()}
        for prompt, fate, tokens in zip(f["candidates/prompt_id"][:],
                                        f["candidates/fate"][:], f["candidates/n_tokens"][:]):
            if prompt in rows:
                seen += 1
                assert fates[fate] == "failed" and tokens == 0, (prompt, fates[fate])
assert rows and seen, (rows, seen)
END
ok "$dapo" verify "$runs/poisoned"
cp "$runs/poisoned/poison" "$tmp/poison"
train poisoned
ends 0 'done steps=3'
same "$tmp/poison" "$runs/poisoned/poison"
echo 'x' >"$runs/poisoned/poison"
train poisoned --set run.steps=4
ends 65 'poison: want a row number'

echo "the file stop: 75 after a clean save, once"
(
    until [ -e "$runs/asked/rollouts/step-000002.h5" ]; do sleep 0.02; done
    touch "$runs/asked/stop"
) &
train asked --set run.steps=400 --set run.save_every=0
wait
ends 75 'stopped by the file stop after step [0-9]+, checkpoint saved'
train asked --set run.steps=3 --set run.save_every=0
ends 0 'asked/stop removed'

echo "time: max_hours, and what squeue says; no save where there is no time for one"
train late --set run.steps=4000 --set train.max_hours=0.0003 --set train.margin_s=0.5
ends 75 'time_limit=[01] s' 'save_estimate=' 'stopped before its time is up after step [0-9]+, checkpoint saved'
mkdir "$tmp/bin"
# shellcheck disable=SC2016 # for the script that is written
printf '#!/bin/sh\necho %s\n' '"$FAKE_LEFT"' >"$tmp/bin/squeue"
chmod +x "$tmp/bin/squeue"
export SLURM_JOB_ID=7
PATH=$tmp/bin:$PATH FAKE_LEFT=1-00:00:10 train slurm
ends 0 'time_limit=864(10|09) s'
PATH=$tmp/bin:$PATH FAKE_LEFT=0:20 train slurm --set run.steps=9
ends 75 'time_limit=(20|19) s' 'stopped before its time is up after step 3'
PATH=$tmp/bin:$PATH FAKE_LEFT=UNLIMITED train slurm --set run.steps=4
ends 0 'time_limit=none'
passed
