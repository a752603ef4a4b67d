# shellcheck shell=bash
# lib.sh - run a command as a job step, and requeue the job for as long as it gets on.
#
# Sourced by the batch scripts beside it.  What they rely on:
#   - `#SBATCH --signal=USR1@S` sends USR1 to the ranks S seconds before the time limit
#     (a signal to this shell is passed on); they save and end with 75
#   - 0 is done, 75 stopped before its end: requeue; a rank that was killed (by the
#     system, out of memory, a crash) has no exit status of its own, and the job's is above
#     128: requeue as well; anything else: stop and keep the job's log
#   - a job that Slurm itself requeues (a node died) starts here again, and `dapo train`
#     goes on from its newest checkpoint

# Modules and paths of this site, and DAPO_LAUNCH, DAPO_MPI.
if [[ -e env/site.sh ]]; then
    set +u # module systems use variables that aren't set
    # shellcheck source=/dev/null
    . env/site.sh
    set -u
fi

# Starts in a row of one job without a new checkpoint before it gives up.
: "${DAPO_IDLE_STARTS:=3}"

# How Slurm's PMIx plugin brings the nodes of a job together.  By its own choice (22.05:
# mixed) a rank now and then leaves MPI_Init before another has got ready, and its first
# message kills that one (SIGSEGV in MPI_Init).
export SLURM_PMIX_FENCE=${SLURM_PMIX_FENCE:-ring}

# srun, or where a site wants it (DAPO_LAUNCH=mpirun) Open MPI's own launcher.  mpirun gets
# signals from this shell only: submit with --signal=B:USR1@S.  It passes USR1 on and
# returns the ranks' 75; at TERM it kills them.
job_launch() {
    case ${DAPO_LAUNCH:-srun} in
    srun)
        exec srun --mpi="${DAPO_MPI:-pmix}" --kill-on-bad-exit=1 \
            --cpus-per-task="${SLURM_CPUS_PER_TASK:-1}" "$@"
        ;;
    mpirun)
        # shellcheck disable=SC2086
        exec mpirun ${DAPO_MPIRUN_FLAGS-} -n "$SLURM_NTASKS" "$@"
        ;;
    *) echo "slurm: DAPO_LAUNCH=$DAPO_LAUNCH: want srun or mpirun" >&2 && exit 64 ;;
    esac
}

# Run "$@" under srun, wait for it through signals, return its status.  srun's is the
# highest of its ranks'; --kill-on-bad-exit asks the others with TERM, which the ranks of
# `dapo train` take as USR1, so that a clean stop stays 75.
job_step() {
    local pid signalled=0 rc
    job_launch "$@" &
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
    ((rc <= 128)) || echo "slurm: exit status $rc: a rank was killed"
    if ((rc == 0)); then
        echo 'slurm: done'
    elif ((rc != 75 && rc <= 128)); then
        echo "slurm: exit status $rc: stopped, not requeued"
    elif [[ -e $dir/stop ]]; then
        echo "slurm: stopped by $dir/stop: not requeued"
    elif job_requeue; then
        return "$rc"
    fi
    rm -f "$dir/slurm-$SLURM_JOB_ID.starts"
    return "$rc"
}

# dapo_setting SECTION KEY JOB.ini [--set ...]: one resolved value.
dapo_setting() {
    local section=$1 key=$2 settings
    shift 2
    settings=$(bin/dapo config "$@" --bare) || return
    # Long values go on in indented lines after a backslash.
    sed -e ':a' -e '/\\$/{N;s/\\\n *//;ba}' <<<"$settings" |
        awk -v section="[$section]" -v key="$key" '
            /^\[/ { at = $1 }
            at == section && $1 == key { sub(/^[^=]*= /, ""); print }'
}

# dapo_train JOB.ini [--set section.key=value]...
dapo_train() {
    local dir name
    [[ -x bin/dapo ]] || { echo "slurm: no bin/dapo in $PWD: run make first" && return 1; }
    dir=$(dapo_setting run dir "$@") || return
    name=$(dapo_setting run name "$@") || return
    job_run "$dir/$name" bin/dapo train "$@"
}

# dapo_export RUN: the newest checkpoint as RUN/export, unless that is newer already.
dapo_export() {
    local run=$1 latest
    latest=$run/checkpoints/$(cat "$run/checkpoints/latest" 2>/dev/null || echo none)
    # config.json is written last.  Where there is no checkpoint dapo says so.
    if [[ ! -e $latest || ! $run/export/config.json -nt $latest ]]; then
        rm -rf "$run/export"
        bin/dapo export "$run" "$run/export"
    fi
}

# sweep_point N KEY=V,V...: the N-th point (from 0) of the product, a KEY=V a line.
sweep_point() {
    local n=$1 i values point=''
    shift
    for ((i = $#; i > 0; i--)); do
        [[ ${!i} == ?*=* ]] || { echo "slurm: ${!i}: want KEY=VALUE,VALUE..." >&2 && return 64; }
        IFS=, read -ra values <<<"${!i#*=}"
        ((${#values[@]})) || { echo "slurm: no values in ${!i}" >&2 && return 64; }
        point="${!i%%=*}=${values[n % ${#values[@]}]}"$'\n'$point
        n=$((n / ${#values[@]}))
    done
    ((n == 0)) || { echo "slurm: task $SLURM_ARRAY_TASK_ID is behind the last point" >&2 && return 64; }
    printf %s "$point"
}
