#!/usr/bin/env bash
# sweep.sh - one job file under many settings: a job array, one run per task.
#
#     sbatch --array=0-3 slurm/sweep.sh jobs/demo_dapo.ini optimizer.lr=3e-5,1e-4 \
#         admission.speculation=0,0.5
#     sbatch --array=0-3%2 ...                # at most two at a time
#
# Each further argument is a setting with its values; the tasks count through the product,
# the last setting fastest.  A task's run is NAME-T-KEY=VALUE-..., it requeues itself and
# resumes as any run, and more tasks than points is an error.  Sizes as for dapo_demo.sh:
# override them on the command line of sbatch.
#SBATCH --job-name=dapo-sweep
#SBATCH --nodes=1
#SBATCH --ntasks-per-node=4
#SBATCH --cpus-per-task=1
#SBATCH --time=01:00:00
#SBATCH --signal=USR1@120
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log
set -eu
cd "${SLURM_SUBMIT_DIR:?submit it: sbatch --array=0-N slurm/sweep.sh JOB.ini KEY=V,V...}"
. slurm/lib.sh

job=${1:?which job file}
shift
points=() # as elsewhere, a setting may stand behind --set
for word; do
    [[ $word == --set ]] || points+=("$word")
done
task=${SLURM_ARRAY_TASK_ID:?submit it as an array: sbatch --array=0-N}
point=$(sweep_point "$task" "${points[@]}")
name=$(dapo_setting run name "$job")-$task
set --
while IFS= read -r setting; do
    [[ -n $setting ]] || continue
    set -- "$@" --set "$setting"
    name+=-${setting##*.}
done <<<"$point"
echo "slurm: task $task: $*"
dapo_train "$job" "$@" --set run.name="${name//\//_}"
