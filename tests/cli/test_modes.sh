#!/usr/bin/env bash
# test_modes.sh - whole runs of the settings that the demo does not use: GRPO, a reference
# model, bf16, the checking backend, short batches, the end of the data.
. tests/cli/lib.sh

ok "$dapo" prepare --task arithmetic --out "$tmp/task" --train 12 --eval 6 --sft 10 --seed 3

# run NAME JOB [--set ...]: two ranks, two steps of three groups of four.
run() {
    local name=$1 job=$2
    shift 2
    # shellcheck disable=SC2086 # MPIRUN is a command line
    timeout -k 5 120 ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n 2 \
        "$dapo" train "$job" \
        --set run.dir="$tmp/runs" --set run.name="$name" --set run.steps=2 \
        --set data.train="$tmp/task/train.jsonl" --set data.eval= \
        --set admission.groups=3 --set admission.group_size=4 --set rollout.slots=6 \
        --set optimizer.lr=1e-3 --set optimizer.updates_per_step=2 "$@"
}

# metric RUN STEP NAME: its value.
metric() {
    "$python" - "$tmp/runs/$1/rollouts/step-00000$2.h5" "metrics/$3" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    print(f[sys.argv[2]][()])
END
}
is() { # is RUN STEP NAME VALUE
    local got
    got=$(metric "$1" "$2" "$3")
    [ "$got" = "$4" ] || die "$1 step $2: $3 is $got, not $4"
    checks=$((checks + 1))
}

# refused STATUS PATTERN COMMAND...: as fails, but mpirun may add its own lines.
refused() {
    local want=$1 pattern=$2 rc=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq "$want" ] || die "exit status $rc, not $want: $* ($(cat "$tmp/err"))"
    [ "$(grep -c '^dapo: ' "$tmp/err")" -eq 1 ] || die "not one sentence: $(cat "$tmp/err")"
    grep -qE -- "^dapo: .*$pattern" "$tmp/err" || die "no '$pattern': $(cat "$tmp/err")"
    checks=$((checks + 1))
}

ok run grpo jobs/demo_grpo.ini
is grpo 1 rollout/candidate_groups 3.0
is grpo 1 rollout/wasted_token_ratio 0.0
is grpo 2 ppo/sequences 12.0
is grpo 2 reward/length_penalty_mean 0.0

ok run kl jobs/demo_dapo.ini --set loss.kl_coef=0.01
is kl 1 ppo/first_max_abs_log_ratio 0.0
"$python" -c "import sys; sys.exit(not 0 < float('$(metric kl 2 ppo/kl)') < 5)" ||
    die "the KL estimate of step 2 is $(metric kl 2 ppo/kl)"

ok run bf16 jobs/demo_dapo.ini --set model.compute=bf16
is bf16 1 ppo/first_max_abs_log_ratio 0.0
is bf16 2 ppo/first_max_abs_log_ratio 0.0

ok run checked jobs/demo_dapo.ini --set model.backend=check:cpu --set run.steps=1
is checked 1 ppo/first_max_abs_log_ratio 0.0

ok run dual jobs/demo_dapo.ini --set loss.dual_clip=3 --set loss.mask_truncated=true \
    --set loss.reduction=token_mean_microbatch --set rollout.max_tokens=34

# All prompts too hard in two tokens: no group is trainable, the update is skipped.
ok run hopeless jobs/demo_dapo.ini --set rollout.max_tokens=2 --set reward.overlong_cache=1
is hopeless 1 train/update_skipped 1.0
is hopeless 1 rollout/effective_fill_ratio 0.0
is hopeless 1 rollout/candidate_groups 18.0
refused 65 'closed by max_candidates with 0 of 3' run strict jobs/demo_dapo.ini \
    --set rollout.max_tokens=2 --set reward.overlong_cache=1 \
    --set admission.on_short_batch=error --set run.log=error

# Twelve prompts, once: the run ends with the data, by name, in a clean exit.
ok run data jobs/demo_grpo.ini --set data.epochs=1 --set run.steps=100
grep -q 'done steps=4 stop_reason=data' "$tmp/err" || die "$(tail -n 3 "$tmp/err")"

refused 78 'resume = never' run data jobs/demo_grpo.ini --set data.epochs=1 \
    --set run.steps=100 --resume never --set run.log=error
refused 78 'loss.clip_high' run data jobs/demo_grpo.ini --set data.epochs=1 \
    --set run.steps=100 --set loss.clip_high=0.5 --set run.log=error
refused 78 'no rank to generate' run crowd jobs/demo_dapo.ini --set ranks.learners=2 \
    --set run.log=error
passed
