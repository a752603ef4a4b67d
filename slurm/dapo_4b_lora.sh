#!/usr/bin/env bash
# dapo_4b_lora.sh - DAPO on Qwen3.5-4B with LoRA (jobs/dapo_4b_lora.ini) on 4 nodes.
#
#     make && bin/dapo plan jobs/dapo_4b_lora.ini
#     sbatch slurm/dapo_4b_lora.sh [JOB.ini] [--set section.key=value]...
#
# One rank a node, its threads on all cores (ranks.threads): 1 node learns, 3 generate.
# Only the adapter travels between them and into checkpoints.  More nodes (-N) generate
# more at once.  Modules: env/site.sh.
#SBATCH --job-name=dapo-4b-lora
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=32
#SBATCH --mem=0
#SBATCH --exclusive
#SBATCH --time=12:00:00
#SBATCH --signal=USR1@900
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/dapo_4b_lora.sh}"
. slurm/lib.sh

[[ $# -gt 0 && $1 != --* ]] || set -- jobs/dapo_4b_lora.ini "$@"
dapo_train "$@"
