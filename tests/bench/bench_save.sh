#!/usr/bin/env bash
# bench_save.sh [STEPS] - what a checkpoint after every step costs the demo: its job as it
# is, 1 learner and 3 replicas, without evaluation.  From the second step on each step's
# time and, in time/files_seconds, that of the files of the step before, with a checkpoint
# in every second of them.
set -eu
dapo=${DAPO:-bin/dapo}
dir=$(mktemp -d -p build)
trap 'rm -rf "$dir"' EXIT
"$dapo" prepare --task arithmetic --out "$dir/task" --train 2000 --eval 10 --sft 0 \
    --seed 42 >/dev/null
# shellcheck disable=SC2086 # MPIRUN is a command line
${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n 4 "$dapo" train \
    jobs/demo_dapo.ini --set run.dir="$dir" --set run.name=r --set run.log=error \
    --set run.steps="${1:-21}" --set run.save_every=2 --set run.keep=2 \
    --set data.train="$dir/task/train.jsonl" --set data.eval= </dev/null
"${PYTHON:-/usr/bin/python3}" - "$dir/r" <<'END'
import glob, os, sys, h5py
import numpy as np
run = sys.argv[1]
files = [h5py.File(n) for n in sorted(glob.glob(run + "/rollouts/*.h5"))]
step, wrote = (np.array([f["metrics/time/" + n][()] for f in files])
               for n in ("step_seconds", "files_seconds"))
# Files of step k stand in step k + 1; even steps are saved.
saved, plain = wrote[2::2], wrote[1::2]
bytes_of = os.path.getsize(sorted(glob.glob(run + "/checkpoints/*.h5"))[-1])
cost = np.median(saved) - np.median(plain)
print(f"save              step {np.median(step):.3f} s, step file {np.median(plain):.4f} s, "
      f"checkpoint {cost:.4f} s ({bytes_of / 1e6:.1f} MB): {100 * cost / np.median(step):.1f}% of a step")
END
