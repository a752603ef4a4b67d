#!/usr/bin/env bash
# dapo_32b.sh - DAPO on Qwen2.5-32B (jobs/dapo_32b.ini, or jobs/grpo_32b.ini) on 16 nodes.
#
#     make && bin/dapo plan jobs/dapo_32b.ini
#     sbatch slurm/dapo_32b.sh [JOB.ini] [--set section.key=value]...
#
# One rank a node, its threads on all cores (ranks.threads); 8 nodes learn, 8 generate.
# A learner needs 1.0 TiB of memory, a generator 443 GiB; optimizer.microbatch_tokens and
# rollout.kv_tokens are what to lower.  Modules: env/site.sh.  Partition, account and other
# sizes are options of sbatch (-p, -A, -N, -c, -t ...), which override the ones here.
#SBATCH --job-name=dapo-32b
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
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/dapo_32b.sh}"
. slurm/lib.sh

[[ $# -gt 0 && $1 != --* ]] || set -- jobs/dapo_32b.ini "$@"
dapo_train "$@"
