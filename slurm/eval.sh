#!/usr/bin/env bash
# eval.sh - held-out accuracy (avg@n, pass@n) of a job's model, or of a run's newest
# checkpoint.
#
#     sbatch slurm/eval.sh JOB.ini [--set section.key=value]...
#     sbatch slurm/eval.sh runs/NAME [--set section.key=value]...
#
# A run's checkpoint is exported beside it (runs/NAME/export, replaced when it is older),
# and evaluated under the run's own settings.  Rows go to eval-JOBID.jsonl, in the run
# directory or here.  The ranks share the problems, any number of them.
#SBATCH --job-name=dapo-eval
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=1
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch slurm/eval.sh JOB.ini|RUN}"
. slurm/lib.sh

what=${1:?what to evaluate: a job file or a run directory}
shift
out=eval-$SLURM_JOB_ID.jsonl
if [[ -d $what ]]; then
    dapo_export "$what"
    set -- "$what/job.ini" --set model.path="$what/export" --set model.init=pretrained \
        --set model.tokenizer= --set lora.rank=0 --set lora.init= "$@"
    out=$what/$out
else
    set -- "$what" "$@"
fi
job_step bin/dapo eval "$@" --out "$out"
