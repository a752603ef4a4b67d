#!/usr/bin/env bash
# test_sft.sh - supervised training that is stopped (signals, the file stop, the end of its
# time) goes on to the same bits, and leaves nothing but its result.
. tests/cli/lib.sh
tiny_model "$tmp/m"
cat >"$tmp/job.ini" <<X
[run]
name = s
dir = $tmp/runs
steps = 60
log = info
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
[optimizer]
lr = 0.01
[sft]
batch = 4
out = $tmp/result
X
run=$tmp/runs/s.sft
limit=()

# strike RANKS HOW...: a job that would go on for long is treated so after its first update.
strike() {
    local ranks=$1 command=("$dapo" sft "$tmp/job.ini" --set run.steps=100000 "${limit[@]}")
    shift
    # shellcheck disable=SC2206 # MPIRUN is a command line
    ((ranks == 1)) || command=(${MPIRUN:-mpirun --allow-run-as-root --oversubscribe}
        -n "$ranks" "${command[@]}")
    : >"$tmp/err" # before anyone looks into it
    "${command[@]}" </dev/null >"$tmp/out" 2>>"$tmp/err" &
    pid=$!
    for ((i = 0; i < 3000; i++)); do
        if grep -q " sft update=1 " "$tmp/err" || ! kill -0 $pid; then break; fi
        sleep 0.02
    done
    "$@"
    rc=0
    wait $pid || rc=$?
    [ $rc -eq 75 ] || die "exit status $rc, not 75: $(cat "$tmp/err")"
    n=$(sed -n "s|^dapo: .*$run: stopped .* after update \([0-9]*\) of .*|\1|p" "$tmp/err")
}
signal() { kill "-$1" $pid; }

# goes_on RANKS: twenty updates more than were done, to the bits of an undisturbed job.
goes_on() {
    ok on "$1" "$dapo" sft "$tmp/job.ini" --set run.steps=$((n + 20))
    said "resumed from step=$n "
    ok on "$1" "$dapo" sft "$tmp/job.ini" --set run.steps=$((n + 20)) \
        --set run.name=calm --set sft.out="$tmp/calm"
    same "$tmp/result/model.safetensors" "$tmp/calm/model.safetensors"
    [ -z "$(ls "$tmp/runs")" ] || die "left: $(find "$tmp/runs")"
    rm -r "$tmp/result"
}

echo "signals: one process, and two ranks by their launcher"
strike 1 signal TERM
said 'stopped on request after update .*, checkpoint saved; the same command goes on from there'
[ ! -e "$tmp/result" ] || die "it wrote a model that is not done"
fails 78 'can.t be resumed with sft.batch = 5' "$dapo" sft "$tmp/job.ini" \
    --set sft.batch=5 --set run.log=error
fails 78 "is at update $n already, and run.steps = 0" "$dapo" sft "$tmp/job.ini" \
    --set run.steps=0 --set run.log=error
fails 78 'other settings .optimizer.lr.' "$dapo" sft "$tmp/job.ini" \
    --set optimizer.lr=0.02 --set run.log=error
goes_on 1
strike 2 signal USR1
goes_on 2

echo "the file stop"
strike 2 touch "$run/stop"
said 'stopped by the file stop after update'
goes_on 2

echo "its time: enough for a save, and not"
limit=(--set train.max_hours=1 --set train.margin_s=3600)
strike 1 true
said 'stopped before its time is up after update 1 of 100000, checkpoint saved'
goes_on 1
limit=(--set train.max_hours=1e-6)
strike 1 true
said 'after update 1 of .*, without time to save it; the same command goes on from the start'
rm -r "$run"

echo "a result that can't be written costs nothing; nor is the model at hand overwritten"
: >"$tmp/file"
n=20
refused 74 "$tmp/file/x: .*; what was learned is kept in $run, and the same command" \
    on 2 "$dapo" sft "$tmp/job.ini" --set run.steps=$n --set sft.out="$tmp/file/x"
goes_on 2
fails 78 'sft.out = .* is the folder of model.path' "$dapo" sft "$tmp/job.ini" \
    --set sft.out="$tmp/m/../m"

echo "a stop that can't be removed is said, not obeyed for ever"
mkdir -p "$run/stop"
fails 74 "$run/stop: is there, of an earlier job, and can.t be removed" "$dapo" sft "$tmp/job.ini"
passed
