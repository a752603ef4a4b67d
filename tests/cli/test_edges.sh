#!/usr/bin/env bash
# test_edges.sh - jobs at the edges of what was planned for: each ends in a named outcome,
# none hangs.  Budgets, short data, prompts without signal, slow and dying replicas.
. tests/cli/lib.sh
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
runs=$tmp/c/runs
cd "$tmp/c/in"

# run NAME RANKS [--set ...]: at most three steps of three groups of four.
run() {
    local name=$1 ranks=$2
    shift 2
    ok on "$ranks" "$dapo" train "$tmp/c/job.ini" --set run.name="$name" \
        --set run.save_every=0 --set run.log=info --set data.eval= "$@"
}

# step RUN NUMBER WHAT VALUE: an attribute or a metric of a step's file.
step() {
    local got
    got=$(
        "$python" - "$runs/$1/rollouts/step-00000$2.h5" "$3" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    what = sys.argv[2]
    value = f.attrs[what] if what in f.attrs else f["metrics/" + what][()]
    print(value.decode().strip("\0") if isinstance(value, bytes) else value)
END
    )
    [ "$got" = "$4" ] || die "$1 step $2: $3 is $got, not $4"
    checks=$((checks + 1))
}
done_by() { # done_by STEPS REASON: how the last run ended
    grep -q "done steps=$1 stop_reason=$2" "$tmp/err" || die "$(tail -n 3 "$tmp/err")"
    checks=$((checks + 1))
}

echo "data: smaller than a step, exhausted in the middle, one prompt"
head -n 2 train.jsonl >two.jsonl
head -n 1 train.jsonl >one.jsonl
head -n 13 train.jsonl >some.jsonl
run small 2 --set data.train=two.jsonl --set data.epochs=1
step small 1 closed_by data_exhausted
step small 1 rollout/candidate_groups 2.0
done_by 1 data
run middle 3 --set data.train=some.jsonl --set data.epochs=1 --set run.steps=50
grep -q 'stop_reason=data' "$tmp/err" || die "$(tail -n 3 "$tmp/err")"
[ "$(grep -c 'closed_by=full' "$tmp/err")" -gt 0 ] || die "no full step"
[ "$(grep -c 'closed_by=data_exhausted' "$tmp/err")" -le 1 ] || die "$(cat "$tmp/err")"
step middle "$(grep -c ' step=.*closed_by=' "$tmp/err")" train/data_cursor_consumed 13.0
run lone 3 --set data.train=one.jsonl --set run.steps=2
done_by 2 steps
run lone_goes_on 3 --set data.train=one.jsonl --set admission.surplus=resume
done_by 3 steps

echo "G = 2, B = 1, more replicas than candidates"
run least 6 --set admission.groups=1 --set admission.group_size=2 \
    --set admission.max_multiplier=2 --set optimizer.updates_per_step=1
done_by 3 steps
run crowd 6 --set admission.groups=1 --set admission.max_multiplier=1 \
    --set optimizer.updates_per_step=1 --set admission.surplus=resume
done_by 3 steps

echo "no prompt has a signal: one token can't hold an answer"
hopeless=(--set rollout.max_tokens=1)
run hopeless 2 "${hopeless[@]}"
step hopeless 3 train/update_skipped 1.0
step hopeless 3 closed_by max_candidates
run stops 2 "${hopeless[@]}" --set admission.on_short_batch=stop --set data.eval=eval.jsonl
done_by 1 short_batch
said ' eval step=1 '
[ -e "$runs/stops/checkpoints/step-000001.h5" ] || die "it was not saved"
refused 65 'step 1 closed by max_candidates with 0 of 3' on 2 "$dapo" train \
    "$tmp/c/job.ini" --set run.name=errs --set data.eval= "${hopeless[@]}" \
    --set admission.on_short_batch=error --set run.log=error
# as verl's max_num_gen_batches = 2 at a generation batch of 3 B
refused 65 'step 1 closed by max_candidates with 0 of 3 .*raise admission.max_multiplier' \
    on 2 "$dapo" train "$tmp/c/job.ini" --set run.name=rounds --set data.eval= \
    "${hopeless[@]}" --set admission.on_short_batch=error --set run.log=error \
    --set admission.refill=full --set admission.full_multiplier=3 \
    --set admission.max_multiplier=6
run strict 2 "${hopeless[@]}" --set admission.strict=true --set data.epochs=1
step strict 1 closed_by data_exhausted
step strict 1 rollout/candidate_groups 60.0

echo "budgets, each by its name"
run tokens 3 --set admission.max_candidate_tokens=40
step tokens 1 closed_by max_candidate_tokens
run trained 3 --set admission.max_train_tokens=30
step trained 1 closed_by max_train_tokens
run seconds 3 --set admission.max_seconds=0.000001
step seconds 3 closed_by max_seconds
done_by 3 steps
grep -q 'the clock may close a step' "$tmp/err" || die "the header does not warn"

echo "transport: doubling the completions doubles what replicas send to learners, not what
passes the root"
for length in 16 32 64; do
    run "long$length" 5 --set rollout.max_tokens=$length --set rollout.slice=4 \
        --set model.init=random --set admission.dynamic=false --set ranks.learners=2 \
        --set run.steps=1 --set rollout.slots=32
done
"$python" - "$runs" <<'END' || die "the root's traffic grows with the completions"
import sys, h5py
seen = []
for length in (16, 32, 64):
    with h5py.File(f"{sys.argv[1]}/long{length}/rollouts/step-000001.h5") as f:
        m = lambda n: f["metrics/" + n][()]
        assert m("rollout/mean_completion_tokens") > 0.5 * length
        # an idle tick is three messages with each of the three replicas: 4 bytes say
        # how long the report is, its head is 16, a decision's head 96
        seen.append((m("comm/root_bytes") - 3 * 116 * m("time/ticks"), m("comm/root_messages")
                     - 9 * m("time/ticks"), m("comm/delivered_bytes"), m("comm/root_share_bytes"),
                     m("rollout/train_completion_tokens")))
print(seen)
(a, ma, da, ra, ta), (b, mb, db, rb, tb), (c, mc, dc, rc, tc) = seen
assert a == b == c and ma == mb == mc, seen
assert db - da > 7.9 * (tb - ta) > 0 and dc - db > 7.9 * (tc - tb) > 0, seen
assert 0.3 < rc / dc < 0.7, seen
END
checks=$((checks + 1))

echo "completion order and full rounds repeat exactly"
for policy in order=completion refill=full; do
    run a 4 --set admission.$policy --set admission.max_multiplier=6
    run b 4 --set admission.$policy --set admission.max_multiplier=6
    compare trained,tokens,ledger,weights,metrics "$runs/a" "$runs/b"
    rm -r "$runs/a" "$runs/b"
done

echo "a straggler: stopped again and again, it delays the step and changes no bit"
long=(--set run.steps=6 --set rollout.slice=1)
run calm 3 "${long[@]}"
on 3 "$dapo" train "$tmp/c/job.ini" --set run.name=slow --set run.save_every=0 \
    --set run.log=info --set data.eval= "${long[@]}" >"$tmp/out" 2>"$tmp/err" &
pid=$!
ranks_of() { pgrep -f "^$dapo train $tmp/c/job.ini --set run.name=$1" || true; }
while kill -0 $pid 2>/dev/null; do
    victim=$(ranks_of slow | sed -n 2p)
    if [ -n "$victim" ]; then
        kill -STOP "$victim" 2>/dev/null || true
        sleep 0.1
        kill -CONT "$victim" 2>/dev/null || true
    fi
    sleep 0.02
done
wait $pid || die "the run with a straggler failed: $(cat "$tmp/err")"
compare trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/slow"

echo "debug.iteration_s: replicas sleep, and change no bit"
run paced 3 "${long[@]}" --set debug.iteration_s=0.004
compare trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/paced"
"$python" - "$runs/paced/rollouts/step-000001.h5" <<'END' || die "they did not sleep"
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    m = lambda n: f["metrics/" + n][()]
    assert m("rollout/iterations") > 3
    assert m("time/decode_seconds") >= 0.004 * m("rollout/iterations")
END
checks=$((checks + 1))

echo "a replica that dies ends the job, by name and soon"
on 3 "$dapo" train "$tmp/c/job.ini" --set run.name=dead --set data.eval= \
    --set run.steps=100000 --set run.save_every=0 >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_file "$runs/dead/rollouts/step-000002.h5" $pid
begin=$SECONDS
kill -KILL "$(ranks_of dead | sed -n 3p)"
rc=0
wait $pid || rc=$?
case $rc in 0 | 124) die "exit status $rc after a rank had died" ;; esac
[ $((SECONDS - begin)) -lt 30 ] || die "it took $((SECONDS - begin)) s to end"
grep -qE 'rank [0-9]+ .*signal 9' "$tmp/err" || die "no sentence: $(tail -n 5 "$tmp/err")"
checks=$((checks + 3))
passed
