#!/usr/bin/env bash
# test_resume.sh - invariants 6 and 7: a stop on request and kills at any instant cost at
# most the step in flight, and the run ends with the bits of an undisturbed one.
. tests/cli/lib.sh

ok "$dapo" prepare --task arithmetic --out "$tmp/task" --train 200 --eval 20 --sft 10 --seed 3

# start NAME: the command of a run of 12 steps, in $command.
start() {
    # shellcheck disable=SC2206 # MPIRUN is a command line
    command=(timeout -k 5 200 ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n 3
        "$dapo" train jobs/demo_dapo.ini
        --set run.dir="$tmp/runs" --set run.name="$1" --set run.steps=12
        --set run.save_every=1 --set run.keep=2 --set run.log=warn
        --set data.train="$tmp/task/train.jsonl" --set data.eval=
        --set admission.groups=3 --set admission.group_size=4 --set rollout.slots=6
        --set optimizer.updates_per_step=1 --set optimizer.lr=1e-3)
}

ranks_of() { pgrep -f "^$dapo train jobs/demo_dapo.ini --set run.dir=$tmp/runs" || true; }
steps_done() { find "$tmp/runs/$1/rollouts" -name 'step-*.h5' 2>/dev/null | wc -l; }

# wait_step NAME N: until the run has written step N (or has ended).
wait_step() {
    local i
    for ((i = 0; i < 600; i++)); do
        if [ "$(steps_done "$1")" -ge "$2" ] || ! kill -0 "$pid" 2>/dev/null; then
            return 0
        fi
        sleep 0.05
    done
}

# whole NAME: every file with a final name opens and says that it is complete.
whole() {
    "$python" - "$tmp/runs/$1" <<'END' || die "a torn file has a final name"
import glob, sys, h5py
for name in glob.glob(sys.argv[1] + "/*/step-*.h5"):
    with h5py.File(name) as f:
        assert f.attrs["complete"] == 1, name
        f.visititems(lambda n, o: o[()] if isinstance(o, h5py.Dataset) else None)
END
    checks=$((checks + 1))
}

start calm
ok "${command[@]}"

echo "SIGUSR1: exit 75 after a clean save, then on to the same bits"
start asked
"${command[@]}" >"$tmp/out" 2>"$tmp/err" &
pid=$!
wait_step asked 3
# shellcheck disable=SC2046 # one process each
kill -USR1 $(ranks_of) 2>/dev/null || true
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 75 ] || die "exit status $rc, not 75: $(cat "$tmp/err")"
[ "$(grep -c '^dapo: .*stopped on request' "$tmp/err")" -eq 1 ] || die "$(cat "$tmp/err")"
[ "$(steps_done asked)" -lt 12 ] || die "the run was over before the signal"
whole asked
ok "${command[@]}"
ok "$python" tests/cli/compare_runs.py trained,tokens,ledger,weights,metrics \
    "$tmp/runs/calm" "$tmp/runs/asked"

echo "kill -9 of one rank after another, at different instants"
start killed
for round in 1 2 3 4 5; do
    "${command[@]}" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    wait_step killed $((2 * round - 1))
    sleep "0.0$((round * 37 % 100))"
    victim=$(ranks_of | sed -n "$((round % 3 + 1))p")
    if [ -n "$victim" ]; then
        kill -9 "$victim" 2>/dev/null || true
    fi
    wait "$pid" && break
    whole killed
done
[ "$round" -ge 3 ] || die "the run was over after $round rounds"
ok "${command[@]}"
ok "$python" tests/cli/compare_runs.py trained,tokens,ledger,weights,metrics \
    "$tmp/runs/calm" "$tmp/runs/killed"
passed
