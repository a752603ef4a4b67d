#!/usr/bin/env bash
# analyze.sh - tables and plots of finished runs, to be queued behind the run itself.
#
#     job=$(sbatch --parsable slurm/dapo_32b.sh)
#     sbatch --dependency=afterok:"$job" slurm/analyze.sh runs/dapo_32b [RUN]...
#
# Checks every file (`dapo verify`), then writes waste.{csv,png,html} of each run into
# it, and curves.{csv,png} of all of them into the first.  PYTHON names a python3 with
# h5py, pandas and matplotlib.
#SBATCH --job-name=dapo-analyze
#SBATCH --nodes=1
#SBATCH --ntasks=1
#SBATCH --time=00:30:00
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/analyze.sh RUN...}"
. slurm/lib.sh

: "${1:?which runs: sbatch slurm/analyze.sh runs/NAME...}"
python=${PYTHON:-/usr/bin/python3}
for run; do
    bin/dapo verify "$run"
    "$python" analysis/waste.py "$run"
done
"$python" analysis/curves.py "$@"
