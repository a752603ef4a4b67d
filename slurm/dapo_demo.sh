#!/usr/bin/env bash
# dapo_demo.sh - the demo as a Slurm job: 1 learner and 3 generators on 2 nodes.
#
#     make && sbatch slurm/dapo_demo.sh [JOB.ini] [--set section.key=value]...
#
# To be submitted from the repository's root, on a file system that all nodes share.
# Ends by itself; requeues itself before its time limit and goes on from its checkpoint.
#SBATCH --job-name=dapo-demo
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=2
#SBATCH --cpus-per-task=1
#SBATCH --time=00:30:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/dapo_demo.sh}"
. slurm/lib.sh

[[ $# -gt 0 && $1 != --* ]] || set -- jobs/demo_dapo.ini "$@"
[[ $1 != jobs/demo_* || -e build/demo/train.jsonl ]] || jobs/demo_task.sh
dapo_train "$@"
