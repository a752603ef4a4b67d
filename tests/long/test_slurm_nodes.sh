#!/usr/bin/env bash
# test_slurm_nodes.sh - what happens to a job on a cluster of three nodes, 2 to 8 ranks of
# it: asked to stop, another job in its run directory, other numbers of nodes, a time
# limit, and the crash of a node in each phase of a step.  After each the run ends with
# the bits of an undisturbed one, and `dapo verify` finds nothing.
. tests/cli/lib.sh
. tests/long/cluster.sh
compare=tests/cli/compare_runs.py
export LIMIT=300
coin_job "$tmp/c"
cluster 3

# job_file RUN STEPS [FAULT]: $tmp/RUN.ini, which the job reads at each start.
job_file() {
    sed -e "s|^name = .*|name = $1|; s|^steps = .*|steps = $2|; s|^log = .*|log = info|" \
        -e "s|^dir = .*|dir = $tmp/runs|; s|^path = .*|path = $tmp/c/in/model|" \
        -e "s|^train = .*|train = $tmp/c/in/train.jsonl|; s|^eval = .*|eval =|" \
        "$tmp/c/job.ini" >"$tmp/$1.new"
    printf '[debug]\nfault = %s\n' "${3-}" >>"$tmp/$1.new"
    mv "$tmp/$1.new" "$tmp/$1.ini"
}
# calm RUN RANKS STEPS: what an undisturbed one would be.
calm() {
    job_file "$1" "$3"
    ok on "$2" "$dapo" train "$tmp/$1.ini"
}
# submit RUN OPTIONS...: sets $job and $log.  follow RUN: turns to that one.
submit() {
    log=$tmp/$1.log
    job=$(sbatch --parsable --output="$log" "${@:2}" slurm/dapo_demo.sh "$tmp/$1.ini")
    eval "job_$1=$job"
}
follow() {
    local name=job_$1
    log=$tmp/$1.log job=${!name}
}
started() { says "slurm: job $job, start $1, "; }
requeues() { grep -c "slurm: job $job requeued" "$log" || true; }
requeued_again() { (($(requeues) > before)); }
# finished RUN LIKE WHAT: the job is done, and its run is as that one.
finished() {
    until_true ended COMPLETED
    until_true says 'slurm: done'
    like "$@"
}
like() {
    ok "$dapo" verify --quiet "$tmp/runs/$1"
    ok "$python" "$compare" "$3" "$tmp/runs/$2" "$tmp/runs/$1"
}
# hung RUN: a rank of it stands still at the fault it was given (it sleeps in pause).
hung() {
    local process call
    for process in $(pgrep -f "^bin/dapo train $tmp/$1.ini"); do
        read -r call _ 2>/dev/null <"/proc/$process/syscall" || continue
        [[ $call != 34 ]] || return 0
    done
    return 1
}
all=trained,tokens,ledger,weights

calm calm4 4 40 # 6 and 3 ranks train the same bits
calm calm8 8 30

echo "the time limit, reached for real: by a job that stops in time, and by one that hangs"
# Each sync takes longer, so that a minute holds few steps.
${CC:-cc} -shared -fPIC -O1 -o "$tmp/slow_sync.so" tests/long/slow_sync.c
job_file limited 4000
sed -i 's/^\[debug\]/[train]\nmargin_s = 20\n&/' "$tmp/limited.ini"
submit limited -N 1 -n 2 --ntasks-per-node=2 -t 1 --signal=CONT@1 \
    --export="ALL,LD_PRELOAD=$tmp/slow_sync.so,SLOW_SYNC=0.4"
job_file hanging 6 generate:1:30:hang
submit hanging -N 1 -n 2 --ntasks-per-node=2 -t 1 --signal=CONT@1

echo "USR1 to the batch shell; meanwhile another job in the same run directory"
job_file asked 30
submit asked -N 3 -n 8 --ntasks-per-node=3
until_true says ' step=2 '
cp "$tmp/asked.ini" "$tmp/second.ini"
submit second -N 1 -n 2 --ntasks-per-node=2
until_true ended FAILED
says "runs/asked/lock: another job is writing into this run .Slurm job ${job_asked-}, process" || die "not refused: $(cat "$log")"
says 'slurm: exit status 74: stopped, not requeued' || die "not 74: $(cat "$log")"
follow asked
says ' step=30 ' && die 'the run was over before it was disturbed'
scancel -s USR1 -b "$job"
until_true says "slurm: job $job requeued"
until_true started 2
finished asked calm8 $all,metrics

# Between two starts it is told where to end.
follow limited
before=$(requeues)
PATIENCE=120 until_true requeued_again
says 'stopped before its time is up after step [0-9]+, checkpoint saved' || die "$(cat "$log")"
steps=$(($(sed -n 's/.*before its time is up after step \([0-9]*\),.*/\1/p' "$log" | tail -n 1) + 2))
job_file limited $steps

echo "another number of nodes after a requeue, of ranks too in the jobs after that"
# stopped: the job saves; it waits to start again.
stopped() {
    scancel -s USR1 -b "$job"
    until_true ended PENDING
}
job_file moved 40
submit moved -N 2 -n 4 --ntasks-per-node=2
until_true says ' step=2 '
stopped
# The number of tasks stays that of the submission, whatever is said of it now.
scontrol update jobid="$job" NumNodes=3-3 NumTasks=6
until_true says "start 2, 4 ranks on node\[1-3\]"
until_true says 'nodes=3 '
stopped
scancel "$job"
submit moved -N 3 -n 6 --ntasks-per-node=2 --open-mode=append
until_true says "start 1, 6 ranks on node\[1-3\]"
until_true says 'replicas=5 '
stopped
scancel "$job"
submit moved -N 1 -n 3 --ntasks-per-node=3 --open-mode=append
until_true says "start 1, 3 ranks on node"
finished moved calm4 $all

follow limited
calm calm2 2 $steps
finished limited calm2 $all,metrics
follow hanging
PATIENCE=120 until_true ended TIMEOUT
job_file hanging 6
submit hanging -N 1 -n 2 --ntasks-per-node=2
calm calm6 2 6
finished hanging calm6 $all,metrics

# The fault at which the next start hangs, so that the crash finds it in that phase: in
# the second step after its start.
phases=(generate:3:30 deliver:2:2 learn:0:3 publish:1:3 step_file:3:2 checkpoint:0:2)
echo "a node crashes, the batch script's and another, in: ${phases[*]%%:*}"
start=1 n=0
job_file crashed 40 "${phases[0]}:hang"
submit crashed -N 2 -n 4 --ntasks-per-node=2
for which in batch other; do
    for ((i = 0; i < ${#phases[@]}; i++)); do
        until_true started $start
        until_true hung crashed
        start=$((start + 1)) n=$((n + 1))
        next=${phases[n % ${#phases[@]}]}:hang
        ((n < 2 * ${#phases[@]})) || next=
        job_file crashed 40 "$next"
        node=$(squeue -h -j "$job" -o %B)
        [[ $which == batch ]] || node=$(scontrol show hostnames "$(squeue -h -j "$job" -o %N)" |
            grep -vx "$node" | head -n 1)
        crash "$node"
        ok "$dapo" verify --quiet "$tmp/runs/crashed"
        # Slurm finds the first two out by itself, after 15 seconds or so.
        ((n % ${#phases[@]} == 1)) ||
            scontrol update nodename="$node" state=down reason="power cut"
        until_true started $start
        boot "$node"
    done
done
finished crashed calm4 $all,metrics
redone=$(($(grep -c ' step=[0-9]* acc=' "$log") - 40))
echo "$n crashes of a node: $redone finished steps done again"
((redone <= n)) || die "a crash cost more than a step"
passed
