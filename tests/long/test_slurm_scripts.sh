#!/usr/bin/env bash
# The batch scripts beside dapo_demo.sh on a throw-away cluster of two nodes: Slurm takes
# each of them; a sweep of two tasks, tables and plots behind it, evaluation of a job and
# of a run.  And dapo doctor by srun, by mpirun, and where it has to find something.
. tests/cli/lib.sh
. tests/long/cluster.sh
cluster 2

echo "each script as Slurm sees it; sizes that this cluster lacks are lowered"
for script in slurm/*.sh; do
    case $script in
    */lib.sh) continue ;;
    */*_32b.sh | */*_4b_lora.sh) ok sbatch --test-only -N 2 -c 4 "$script" ;;
    *) ok sbatch --test-only "$script" ;;
    esac
    grep -qE 'Job [0-9]+ to start' "$tmp/err" || die "$script: $(cat "$tmp/err")"
done

# submit NAME ARGUMENTS...: sbatch, waited for; its exit status in $rc, its output in $log.
submit() {
    log=$tmp/$1.log rc=0
    shift
    sbatch -W --output="$log" "$@" >"$tmp/out" 2>&1 || rc=$?
}
prints() { # STATUS PATTERN...: so did the last one
    [ "$rc" -eq "$1" ] || die "exit status $rc, not $1: $(cat "$tmp/out" "$log")"
    shift
    for pattern; do
        says "$pattern" || die "no '$pattern' in: $(cat "$log")"
    done
    checks=$((checks + 1))
}

echo "the doctor: by both launchers, and what it is there to find"
cat >"$tmp/doctor.sh" <<X
#!/usr/bin/env bash
cd "$PWD"
export SLURM_PMIX_FENCE=ring # as slurm/lib.sh says
env -u SLURM_PMIX_FENCE srun --mpi=pmix bin/dapo doctor --message 0.02 --dir $tmp/runs || exit 1
srun --mpi=pmix bin/dapo doctor --fast --dir $tmp/runs || exit 3
echo by mpirun
mpirun --allow-run-as-root bin/dapo doctor --fast --dir $tmp/runs || exit 2
echo alone
bin/dapo doctor --fast --dir $tmp/runs
echo "status \$?"
srun --mpi=pmix bin/dapo doctor --fast --dir /dev/shm
echo "status \$?"
bin/dapo train jobs/demo_dapo.ini --set run.dir=$tmp/runs
echo "status \$?"
X
submit doctor -N 2 --ntasks-per-node=2 -t 10 "$tmp/doctor.sh"
prints 0 "^ok +ranks +4 on 2 nodes, started by srun, as Slurm's tasks" \
    '^warning +fence +SLURM_PMIX_FENCE is not set: .* -- export SLURM_PMIX_FENCE=ring' \
    '^ok +fence +by ring$' '^ok +pmix +client [0-9.]+.*, server [0-9.]+' '^ok +pmi .*pmix' '^ok +time|^warning +time' \
    '^ok +ring +4 ranks' '^(ok|warning) +message +20.48 MiB from rank 0 to rank 2 on another node' \
    '^ok +clocks' '^ok +locks +another process on another node is kept out' \
    '^ok +files +48.00 MiB by 3 ranks' \
    "^ok +ranks +4 on 2 nodes, started by mpirun, as Slurm's tasks" \
    '^failure +ranks +1 rank, but SLURM_NTASKS = 4: the others are not started -- start it by' \
    '^failure +run folder node2 does not see what rank 0 makes in /dev/shm -- ' \
    '^dapo: .*: ranks: 1 rank, but SLURM_NTASKS = 4'
[ "$(sed -n 's/^status //p' "$log" | xargs)" = '78 74 78' ] ||
    die "exit status: $(grep ^status "$log")"
[ -z "$(find "$tmp" /dev/shm -maxdepth 2 -name '.dapo-doctor*')" ] || die "a folder is left"

echo "a sweep, and its tables and plots once it is done"
coin_job "$tmp/c"
sed -e "s|path = model|path = $tmp/c/in/model|" -e "s|= train.jsonl|= $tmp/c/in/train.jsonl|" \
    -e "s|= eval.jsonl|= $tmp/c/in/eval.jsonl|" "$tmp/c/job.ini" >"$tmp/job.ini"
job=$(sbatch --parsable --array=0-1 --output="$tmp/sweep-%a.log" slurm/sweep.sh \
    "$tmp/job.ini" optimizer.lr=1e-3,2e-3)
run0=$tmp/c/runs/r-0-lr=1e-3 run1=$tmp/c/runs/r-1-lr=2e-3
submit analyze --dependency=afterok:"$job" slurm/analyze.sh "$run0" "$run1"
prints 0 '^resumes from step 3$'
for task in 0 1; do
    grep -q 'slurm: done' "$tmp/sweep-$task.log" || die "$(cat "$tmp/sweep-$task.log")"
done
grep -q '^lr = 0.002' "$run1/job.ini" || die "another setting: $(grep ^lr "$run1/job.ini")"
for file in "$run0"/{waste.{csv,png,html},curves.{csv,png}} "$run1"/waste.csv; do
    [ -s "$file" ] || die "no $file: $(cat "$log")"
done
submit behind --array=2 slurm/sweep.sh "$tmp/job.ini" --set optimizer.lr=1e-3,2e-3
prints 64 'task 2 is behind the last point'
submit words --array=0 slurm/sweep.sh "$tmp/job.ini" optimizer.lr=1e-3 junk
prints 64 'slurm: junk: want KEY=VALUE'

echo "evaluation of a job's model and of a run's newest checkpoint"
submit job slurm/eval.sh "$tmp/job.ini" --set run.dir="$tmp/e" --set eval.samples=2
prints 0 '"problems": 5, "samples": 2'
rows=eval-$(sed -n 's/^Submitted batch job //p' "$tmp/out").jsonl
[ "$(wc -l <"$rows")" -eq 5 ] || die "not a line per problem"
rm "$rows"
mkdir -p "$tmp"/none/{rollouts,checkpoints}
submit none slurm/eval.sh "$tmp/none"
prints 65 'none: has no checkpoint that can be read'
submit run slurm/eval.sh "$run0"
prints 0 '"problems": 5, "samples": 1'
[ "$(wc -l <"$(echo "$run0"/eval-*.jsonl)")" -eq 5 ] || die "not a line per problem"

echo "an adapter on a model with linear attention, as dapo_4b_lora.sh trains it; then both"
coin_job "$tmp/h" hybrid
sed -e "s|path = model|path = $tmp/h/in/model|" -e "s|= train.jsonl|= $tmp/h/in/train.jsonl|" \
    -e "s|= eval.jsonl|= $tmp/h/in/eval.jsonl|" "$tmp/h/job.ini" >"$tmp/lora.ini"
submit lora -N 2 --ntasks-per-node=2 -c 1 slurm/dapo_4b_lora.sh "$tmp/lora.ini" \
    --set run.log=info --set lora.rank=2 --set lora.alpha=4
prints 0 'slurm: done' ' step=3 '
submit merged slurm/eval.sh "$tmp/h/runs/r"
prints 0 '"problems": 5, "samples": 1'
ok "$dapo" export "$tmp/h/runs/r" "$tmp/adapter" --adapter
[ -s "$tmp/adapter/adapter_model.safetensors" ] || die "no adapter: $(ls "$tmp/adapter")"
passed
