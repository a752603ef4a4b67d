# shellcheck shell=bash
# lib.sh - run a command as a job step, and requeue the job for as long as it gets on.
#
# Sourced by the batch scripts beside it.  What they rely on:
#   - `#SBATCH --signal=USR1@S` sends USR1 to the ranks S seconds before the time limit
#     (a signal to this shell is passed on); they save and end with 75
#   - 0 is done, 75 stopped after a clean save: requeue; anything else: stop and keep
#     the job's log
#   - a job that Slurm itself requeues (a node died) starts here again, and `dapo train`
#     goes on from its newest checkpoint

# Starts in a row of one job without a new checkpoint before it gives up.
: "${DAPO_IDLE_STARTS:=3}"

# Run "$@" under srun, wait for it through signals, return its status.  srun's is the
# highest of its ranks'; --kill-on-bad-exit asks the others with TERM, which the ranks of
# `dapo train` take as USR1, so that a clean stop stays 75.
job_step() {
    local pid signalled=0 rc
    srun --mpi=pmix --kill-on-bad-exit=1 --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" \
        "$@" &
    pid=$!
    trap 'signalled=1; kill -USR1 "$pid" 2>/dev/null || true' USR1 TERM
    while :; do
        signalled=0 rc=0
        wait "$pid" || rc=$?
        ((signalled)) || break # or a signal ended the wait, not the step
    done
    trap '' USR1 TERM
    return "$rc"
}

# Count this start in DIR; fails after DAPO_IDLE_STARTS in a row between which DIR got no
# new checkpoint: a time limit below one step, or nodes that die again and again.
job_may_start() { # DIR
    local file=$1/slurm-$SLURM_JOB_ID.starts now last='' idle=0
    now=$(cat "$1/checkpoints/latest" 2>/dev/null || echo none)
    [[ ! -s $file ]] || read -r last idle <"$file"
    if [[ $now == "$last" ]]; then
        idle=$((idle + 1))
    else
        idle=1
    fi
    if ((idle > DAPO_IDLE_STARTS)); then
        echo "slurm: $DAPO_IDLE_STARTS starts without a new checkpoint in $1: giving up"
        return 1
    fi
    mkdir -p "$1"
    echo "$now $idle" >"$file"
}

# Requeue a running job, and only that: a cancelled one ends in a clean save as well.
job_requeue() {
    local state
    state=$(squeue -h -j "$SLURM_JOB_ID" -o %T 2>/dev/null || true)
    if [[ $state != RUNNING ]]; then
        echo "slurm: job $SLURM_JOB_ID is ${state:-gone}: not requeued"
        return 1
    elif scontrol requeue "$SLURM_JOB_ID"; then
        echo "slurm: job $SLURM_JOB_ID requeued"
    else
        echo "slurm: could not requeue; submit the same command again to go on"
        return 1
    fi
}

# job_run DIR COMMAND...: the whole life of a job whose command keeps checkpoints in DIR.
job_run() {
    local dir=$1 rc=0
    shift
    echo "slurm: job $SLURM_JOB_ID, start $((${SLURM_RESTART_COUNT:-0} + 1))," \
        "${SLURM_NTASKS:-?} ranks on ${SLURM_JOB_NODELIST:-?}"
    job_may_start "$dir" || return 1
    job_step "$@" || rc=$?
    case $rc in
    0) echo 'slurm: done' ;;
    75) ! job_requeue || return 75 ;;
    *) echo "slurm: exit status $rc: stopped, not requeued" ;;
    esac
    rm -f "$dir/slurm-$SLURM_JOB_ID.starts"
    return "$rc"
}

# dapo_train JOB.ini [--set section.key=value]...
dapo_train() {
    local settings dir
    [[ -x bin/dapo ]] || { echo "slurm: no bin/dapo in $PWD: run make first" && return 1; }
    settings=$(bin/dapo config "$@" --bare) || return
    # Long values go on in indented lines after a backslash.
    dir=$(sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba}' <<<"$settings" | awk '
        /^\[/ { section = $1 }
        section == "[run]" && $1 == "dir" { sub(/^dir = /, ""); dir = $0 }
        section == "[run]" && $1 == "name" { sub(/^name = /, ""); name = $0 }
        END { print dir "/" name }')
    job_run "$dir" bin/dapo train "$@"
}
