#!/usr/bin/env bash
# grpo_32b.sh - the GRPO baseline on Qwen2.5-32B (jobs/grpo_32b.ini): dapo_32b.sh's job
# with four switches of the loss turned.  Nodes, memory and options: see dapo_32b.sh.
#
#     make && bin/dapo plan jobs/grpo_32b.ini
#     sbatch slurm/grpo_32b.sh [--set section.key=value]...
#SBATCH --job-name=grpo-32b
#SBATCH --nodes=16
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=64
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --time=24:00:00
#SBATCH --signal=USR1@1800
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/grpo_32b.sh}"
. slurm/lib.sh

dapo_train jobs/grpo_32b.ini "$@"
