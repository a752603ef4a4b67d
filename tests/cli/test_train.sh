#!/usr/bin/env bash
# test_train.sh - the invariants of DESIGN section 4 that need a whole job: real runs of
# the demo's model under mpirun, compared bit by bit.
. tests/cli/lib.sh

ok "$dapo" prepare --task arithmetic --out "$tmp/task" --train 200 --eval 20 --sft 10 --seed 3

# run NAME RANKS [--set ...]: three steps of four groups of six, two updates each.
run() {
    local name=$1 ranks=$2
    shift 2
    # shellcheck disable=SC2086 # MPIRUN is a command line
    ok timeout -k 5 120 ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n "$ranks" \
        "$dapo" train jobs/demo_dapo.ini \
        --set run.dir="$tmp/runs" --set run.name="$name" --set run.steps=3 \
        --set run.save_every=1 --set run.keep=0 --set run.log=warn \
        --set data.train="$tmp/task/train.jsonl" --set data.eval= \
        --set admission.groups=4 --set admission.group_size=6 --set rollout.slots=7 \
        --set optimizer.updates_per_step=2 --set optimizer.lr=1e-3 "$@"
}

runs=$tmp/runs
run one 1
run two 2
run three 3
run six 6 # one learner, five replicas

echo "invariants 1, 2, 4, 8, 10: timing, ranks and batching change no trained bit"
for other in two three six; do
    compare trained,tokens,ledger,weights "$runs/one" "$runs/$other"
done
run narrow 3 --set rollout.slots=3 --set rollout.slice=1 --set rollout.prefill_chunk=5
compare trained,tokens,ledger,weights "$runs/one" "$runs/narrow"
run waves 3 --set admission.refill=waves
compare trained,tokens,ledger,weights "$runs/one" "$runs/waves"
run full 6 --set admission.refill=full --set admission.full_multiplier=2
compare trained,tokens,ledger,weights "$runs/one" "$runs/full"

echo "the same command gives the same bits, metrics of waste included"
run again 3
compare trained,tokens,ledger,weights,metrics "$runs/three" "$runs/again"

echo "invariant 3: learners and microbatches change the gradient by rounding only"
run first 1 --set run.steps=1 --set optimizer.updates_per_step=1
run learners2 3 --set run.steps=1 --set optimizer.updates_per_step=1 \
    --set ranks.learners=2
run learners3 5 --set run.steps=1 --set optimizer.updates_per_step=1 \
    --set ranks.learners=3 \
    --set optimizer.microbatch_tokens=300
run learners5 6 --set run.steps=1 --set optimizer.updates_per_step=1 \
    --set ranks.learners=5 \
    --set optimizer.microbatch_tokens=1
for other in learners2 learners3 learners5; do
    compare trained,tokens,ledger,near "$runs/first" "$runs/$other"
done

echo "invariant 5: the first ratio is one"
"$python" - "$runs" <<'END' || die "a first ratio is not one"
import glob, sys, h5py
files = glob.glob(sys.argv[1] + "/*/rollouts/*.h5")
assert len(files) >= 25, len(files)
for name in files:
    with h5py.File(name) as f:
        assert f["metrics/ppo/first_max_abs_log_ratio"][()] == 0.0, name
        assert f["metrics/ppo/train_tokens"][()] > 0, name
END
checks=$((checks + 1))

echo "the seconds of the replicas are within those of the step, the busiest's within all"
"$python" - "$runs" <<'END' || die "seconds or iterations that can't be"
import glob, sys, h5py
for name in glob.glob(sys.argv[1] + "/*/rollouts/*.h5"):
    with h5py.File(name) as f:
        m = lambda x: f["metrics/" + x][()]
        parts = [m("time/" + x) for x in ("decode_seconds", "judge_seconds",
                                          "wait_group_seconds", "wait_tick_seconds")]
        assert min(parts) >= 0 and parts[0] > 0, name
        assert sum(parts) <= m("job/replicas") * m("time/generate_seconds"), name
        assert 0 < m("time/idle_slot_seconds") < parts[0], name
        for most, all in (("time/decode_seconds_max", "time/decode_seconds"),
                          ("rollout/max_iterations", "rollout/iterations")):
            assert m(most) <= m(all) <= 1.000001 * m(most) * m("job/replicas"), name
            assert (m(most) < m(all)) == (m("job/replicas") > 1), name
        used = f["candidates/n_tokens"][:].sum()
        slots = {True: 3, False: 7}["/narrow/" in name] * m("rollout/iterations")
        assert used <= slots - m("rollout/idle_slot_iterations") <= 2 * used, name
        alone = m("job/ranks") == 1
        assert m("job/ranks") == m("job/learners") + m("job/replicas") - alone, name
END
checks=$((checks + 1))

echo "invariant 10: what was published is what the checkpoint holds"
"$python" - "$runs" <<'END' || die "a published checksum is not the checkpoint's"
import glob, sys, h5py
for step in glob.glob(sys.argv[1] + "/*/rollouts/*.h5"):
    with h5py.File(step) as f, h5py.File(step.replace("rollouts", "checkpoints")) as k:
        low, high = (int(f["metrics/train/published_checksum_" + x][()]) for x in ("low", "high"))
        assert k["params"].size <= k.attrs["checksum_values"] # then one checksum is all
        assert high << 32 | low == int(k["checksums/params"][0]), step
END
checks=$((checks + 1))

echo "invariant 6: resuming equals not stopping, on the same and on other ranks"
run halves 3 --set run.steps=1
run halves 3 --set run.steps=3
compare trained,tokens,ledger,weights,metrics "$runs/three" "$runs/halves"
run four 4 --set run.steps=2
for ranks in 3 4 7; do # 2, 3 and 6 replicas
    cp -r "$runs/four" "$runs/moved$ranks"
    run "moved$ranks" $ranks
    compare trained,tokens,ledger,weights "$runs/three" "$runs/moved$ranks"
done
cp -r "$runs/four" "$runs/split"
run split 5 --set ranks.learners=2 --set optimizer.microbatch_tokens=300
compare trained,tokens,ledger,near "$runs/three" "$runs/split"
run back 3
run back 2 --resume 1
compare trained,tokens,ledger,weights "$runs/three" "$runs/back"

passed
