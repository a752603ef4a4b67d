#!/usr/bin/env bash
# demo.sh [SEED] - what `make demo` runs: word problems are made, a half-taught model is
# trained on them by DAPO, and the bill of its tokens is printed and plotted.
set -euo pipefail
seed=${1:-42}
python=${PYTHON:-/usr/bin/python3}
mpirun=${MPIRUN:-mpirun --allow-run-as-root --oversubscribe}
run=runs/demo_dapo_$seed

echo "== 1. the task: word problems, training and held-out sets disjoint"
jobs/demo_task.sh
echo "== 2. DAPO: 1 learner, 3 replicas"
rm -rf "$run"
# shellcheck disable=SC2086 # MPIRUN is a command line
$mpirun -n 4 bin/dapo train jobs/demo_dapo.ini \
    --set run.name="$(basename "$run")" --set run.seed="$seed"
echo "== 3. where the tokens went"
"$python" analysis/waste.py "$run"
"$python" analysis/curves.py "$run"
echo "== 4. held-out accuracy"
"$python" - "$run" <<'END'
import glob, sys
import h5py
files = sorted(glob.glob(sys.argv[1] + "/rollouts/step-*.h5"))
with h5py.File(files[0]) as a, h5py.File(files[-1]) as b:
    before = a["metrics/eval/initial_average_at_n"][()]
    after = b["metrics/eval/average_at_n"][()]
print(f"held-out accuracy: {100 * before:.1f}% before, {100 * after:.1f}% after "
      f"{len(files)} steps")
END
echo "plots: $run/waste.png $run/curves.png, report: $run/waste.html"
