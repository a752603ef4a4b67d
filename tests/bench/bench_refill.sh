#!/usr/bin/env bash
# bench_refill.sh - the real job under each admission policy, alternating: what a step
# costs at equal batches, and whether completions of some lengths are preferred.
#
# The demo's model at a fixed policy (lr = 1e-9), completions cut so that about half of the
# groups are trainable, B = 4, G = 8, 64 slots on 3 and on 7 replicas.  An iteration takes
# ITERATION seconds, most of them slept, as if each replica had a device of its own whose
# iterations cost the same however full they are, the usual case of decoding; where ranks
# share cores, the work that others do meanwhile would count fully, and what is saved by not
# waiting for them would not be seen.  Step time is given in decode iterations of the
# replica with most in each tick, in busy slots of the same (each sequence costs the same),
# and in wall seconds of generating and of the whole step.
set -eu
dapo=${DAPO:-bin/dapo}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
steps=${STEPS:-8} seeds=${SEEDS:-2} iteration=${ITERATION:-0.02}
"$dapo" prepare --task arithmetic --out "$dir/task" --train 400 --eval 10 --sft 10 \
    --seed 3 >/dev/null

# run NAME SEED REPLICAS [--set ...]
run() {
    local name=$1 seed=$2 replicas=$3
    shift 3
    # shellcheck disable=SC2086 # MPIRUN is a command line
    timeout -k 5 300 ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} \
        -n $((replicas + 1)) "$dapo" train jobs/demo_dapo.ini \
        --set run.dir="$dir/$replicas" --set run.name="$name-$seed" --set run.log=error \
        --set run.seed="$seed" --set run.steps="$steps" --set run.save_every=0 \
        --set data.train="$dir/task/train.jsonl" --set data.eval= \
        --set admission.groups=4 --set admission.group_size=8 \
        --set optimizer.updates_per_step=1 --set optimizer.lr=1e-9 \
        --set rollout.max_tokens=33 --set rollout.slice=2 \
        --set rollout.slots=$((64 / replicas)) --set debug.iteration_s="$iteration" \
        "$@" </dev/null
}

for replicas in 3 7; do
    for ((seed = 1; seed <= seeds; seed++)); do
        run waves "$seed" $replicas --set admission.refill=waves
        run stream "$seed" $replicas
        run full "$seed" $replicas --set admission.refill=full
        run resume "$seed" $replicas --set admission.surplus=resume
        run completion "$seed" $replicas --set admission.order=completion \
            --set admission.speculation=0
    done
done
"${PYTHON:-/usr/bin/python3}" - "$dir" <<'END'
import glob, sys, h5py, numpy as np

def steps(replicas, policy):
    rows = []
    for run in sorted(glob.glob(f"{sys.argv[1]}/{replicas}/{policy}-*")):
        for name in sorted(glob.glob(run + "/rollouts/*.h5")):
            with h5py.File(name) as f:
                m = lambda n: float(f["metrics/" + n][()])
                fate, index = f["candidates/fate"][:], f["candidates/index"][:]
                trained = set(index[fate == 0])
                of = f["completions/candidate"][:]
                n = f["completions/n_tokens"][:]
                rows.append(
                    dict(
                        iterations=m("rollout/critical_iterations"),
                        slots=m("rollout/critical_slot_iterations"),
                        seconds=m("time/generate_seconds"),
                        whole=m("time/step_seconds"),
                        waste=m("rollout/wasted_token_ratio"),
                        trainable=m("rollout/effective_group_ratio"),
                        lengths=[n[of == c].mean() for c in sorted(trained)],
                        batch=[n[of == c].tobytes() for c in sorted(trained)],
                    )
                )
    return rows

for replicas in (3, 7):
    policies = ("waves", "stream", "full", "resume", "completion")
    rows = {p: steps(replicas, p) for p in policies}
    waves, n = rows["waves"], len(rows["waves"])
    assert all(a["batch"] == b["batch"] for a, b in zip(waves, rows["stream"]))
    share = np.mean([r["trainable"] for r in waves])
    print(f"{replicas} replicas, {n} steps each, P(trainable) {share:.2f}; stream's and waves' batches are equal")
    print(f"  {'':11}{'iterations':>11}{'slot-iter.':>11}{'gen s':>8}{'step s':>8}{'waste':>7}   waves over it: median of steps (mean over mean)")
    for p in policies:
        mean = {k: np.mean([r[k] for r in rows[p]]) for k in ("iterations", "slots", "seconds", "whole", "waste")}
        faster = []
        for k in ("iterations", "slots", "seconds", "whole"):
            each = [a[k] / b[k] for a, b in zip(waves, rows[p])]
            faster.append(f"{np.median(each):.2f} ({np.mean([a[k] for a in waves]) / mean[k]:.2f})")
        print(f"  {p:11}{mean['iterations']:11.1f}{mean['slots']:11.0f}{mean['seconds']:8.2f}{mean['whole']:8.2f}{mean['waste']:7.0%}   {'  '.join(faster)}")
    for p in ("resume", "completion"):
        a = np.concatenate([r["lengths"] for r in rows[p]])
        b = np.concatenate([r["lengths"] for r in waves])
        bias = a.mean() / b.mean() - 1
        error = np.hypot(a.std() / len(a) ** 0.5, b.std() / len(b) ** 0.5) / b.mean()
        print(f"  mean trained length of {p} over that of candidate order: {bias:+.1%} +- {error:.1%}")
END
