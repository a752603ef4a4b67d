#!/usr/bin/env bash
# slurm/dapo_demo.sh on a throw-away cluster of two nodes: USR1 to the ranks in mid-run
# ends in a clean save, the job requeues itself and goes on, and the final weights are
# bit for bit those of a run that nothing disturbed (invariant 6).  So are those of a job
# of which a rank is killed.  A job whose ranks are cancelled stays cancelled, and one that
# fails is not requeued.
. tests/cli/lib.sh
. tests/long/cluster.sh
cluster 2

tiny_model "$tmp/m"
cat >"$tmp/job.ini" <<X
[run]
dir = $tmp/runs
steps = 40
save_every = 4
[model]
path = $tmp/m
init = random
[data]
train = $tmp/m-task/train.jsonl
[prompt]
template = custom
custom = {user}
suffix = \s
max_tokens = 128
[rollout]
max_tokens = 24
slots = 8
[admission]
groups = 4
group_size = 4
dynamic = false
[reward]
overlong = add
overlong_cache = 20
[optimizer]
lr = 0.001
updates_per_step = 2
X

submit() { # RUN ARGUMENTS...: job.ini as run RUN
    log=$tmp/$1.log
    job=$(sbatch --parsable --output="$log" slurm/dapo_demo.sh "$tmp/job.ini" \
        --set "run.name=$1" "${@:2}")
}
weights() { # RUN: the newest checkpoint's, as a model directory
    "$dapo" export "$tmp/runs/$1" "$tmp/$1-weights" >/dev/null
    cat "$tmp/$1-weights/model.safetensors" >"$tmp/$1.weights"
}

submit disturbed
until_true says ' step=6 '
scancel -s USR1 "$job"
until_true says "slurm: job $job requeued"
says ' step=40 ' && die 'the run was over before it was disturbed'
until_true says "slurm: job $job, start 2, 4 ranks on node\[1-2\]"
until_true ended COMPLETED
until_true says 'slurm: done'
says 'resumed from step=[1-9]' || die "the second start began anew: $(cat "$log")"
[[ ! -e $tmp/runs/disturbed/slurm-$job.starts ]] || die 'the count of starts was left'

submit calm
until_true ended COMPLETED
says ' start 2' && die 'the undisturbed run was disturbed'
weights calm
weights disturbed
same "$tmp/calm.weights" "$tmp/disturbed.weights"

submit killed
until_true says ' step=6 '
kill -KILL "$(pgrep -f "^bin/dapo train $tmp/job.ini --set run.name=killed" | tail -n 1)"
until_true says 'slurm: exit status 1[34].: a rank was killed'
until_true says "slurm: job $job, start 2, "
until_true ended COMPLETED
weights killed
same "$tmp/calm.weights" "$tmp/killed.weights"

submit cancelled --set run.steps=4000
until_true says ' step=2 '
scancel "$job"
until_true says 'not requeued'
until_true ended CANCELLED

submit broken --set "data.train=$tmp/none.jsonl"
until_true ended FAILED
until_true says 'slurm: exit status [0-9]+: stopped, not requeued'
passed
