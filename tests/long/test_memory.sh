#!/usr/bin/env bash
# test_memory.sh [STEPS] - memory: over 200 steps no rank grows, whether steps are plain,
# overlap, or carry groups over; and a whole life of a run (save, kill, resume, stop,
# resume, verify) under the address and undefined sanitizers says nothing.
. tests/cli/lib.sh
steps=${1:-200}
root=$PWD
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
cd "$tmp/c/in"

# watched NAME ARGUMENTS...: a run of 3 ranks; $tmp/NAME.rss gets "step pid KiB" lines.
# A step takes long enough to be looked at.
watched() {
    local run=$1 pid process step=0 now
    on 3 "$dapo" train "$tmp/c/job.ini" --set run.name="$run" --set run.steps="$steps" \
        --set data.eval= --set rollout.slots=8 --set debug.iteration_s=0.004 "${@:2}" \
        >"$tmp/log" 2>&1 &
    pid=$!
    while kill -0 "$pid" 2>/dev/null; do
        now=$(find "$tmp/c/runs/$run/rollouts" -name 'step-*.h5' 2>/dev/null | wc -l)
        if ((now > step)); then
            step=$now
            for process in $(pgrep -f "^$dapo train $tmp/c/job.ini --set run.name=$run "); do
                sed -n "s/^VmRSS:[^0-9]*\([0-9]*\) kB/$step $process \1/p" \
                    "/proc/$process/status" 2>/dev/null || true
            done >>"$tmp/$run.rss"
        fi
        sleep 0.1
    done
    wait "$pid" || die "$run failed: $(cat "$tmp/log")"
}

# What each rank gained in the second half of the run, and how often it rose: a leak of a
# page a step rises all the time, longer completions than any before do now and then.
level() {
    ok "$python" - "$steps" "$tmp/$1.rss" "$tmp/c/runs/$1/rollouts" <<'END'
import sys, glob, h5py
import numpy as np
steps, rows = int(sys.argv[1]), np.loadtxt(sys.argv[2], dtype=int)
said = []
for pid in np.unique(rows[:, 1]):
    step, kib = rows[rows[:, 1] == pid][:, [0, 2]].T
    assert (step > steps / 2).sum() > steps / 10, "too few samples"
    level, rises = kib[step <= steps / 2].max(), 0
    gain = kib.max() - level
    for now in kib[step > steps / 2]:
        rises, level = (rises + 1, now) if now >= level + 8 else (rises, level)
    said.append(f"{kib.max() / 1024:.1f} MiB (+{gain} KiB in {rises})")
    assert gain < 1024 and rises < steps / 20, (pid, kib.tolist())
assert len(said) == 3, said
metric = [h5py.File(n)["metrics/system/rss_mib"][()] for n in glob.glob(sys.argv[3] + "/*.h5")]
assert len(metric) == steps and abs(max(metric) - rows[:, 2].max() / 1024) < 4, max(metric)
print("resident memory of each rank at most, gained in the second half:", ", ".join(said))
END
    echo "$1: $(cat "$tmp/out")"
}
export LIMIT=900
watched plain --set run.save_every=1
level plain
watched ahead --set run.save_every=5 --set train.max_staleness=1
level ahead
watched carried --set run.save_every=5 --set admission.surplus=resume
level carried

echo "a whole life under the sanitizers"
make -s -C "$root" MODE=asan build/asan/dapo >/dev/null || die "no build under the sanitizers"
dapo=$root/build/asan/dapo
# Open MPI keeps what it once took and unloads the code that did, so no suppression could
# name it: leaks don't end a rank, and only those are counted that our code allocated.
export ASAN_OPTIONS=detect_leaks=1:log_path=$tmp/asan UBSAN_OPTIONS=print_stacktrace=1
export LSAN_OPTIONS=exitcode=0
train() {
    on 3 "$dapo" train "$tmp/c/job.ini" --set run.name=clean --set run.steps="$1" \
        --set run.log=info >"$tmp/log" 2>&1
}
# start_one: in the background, until it has saved a step.
start_one() {
    : >"$tmp/log"
    train 100 &
    pid=$!
    until grep -q ' checkpoint step=' "$tmp/log" || ! kill -0 "$pid" 2>/dev/null; do
        sleep 0.05
    done
}
ranks_of() { pgrep -f "^$dapo train $tmp/c/job.ini"; }
start_one
kill -KILL "$(ranks_of | tail -n 1)"
wait "$pid" && die "the run was over before the kill"
start_one
# shellcheck disable=SC2046 # one process each
kill -USR1 $(ranks_of)
rc=0
wait "$pid" || rc=$?
[[ $rc -eq 75 ]] || die "exit status $rc, not 75: $(cat "$tmp/log")"
train 12 || die "exit status $?: $(cat "$tmp/log")"
grep -q 'resumed from step=[0-9]* ' "$tmp/log" || die "not resumed: $(cat "$tmp/log")"
ok "$dapo" verify --quiet "$tmp/c/runs/clean"
ok "$dapo" inspect "$tmp/c/runs/clean"
ok "$dapo" export "$tmp/c/runs/clean" "$tmp/export"
found=$(grep -lE 'ERROR: AddressSanitizer|runtime error' "$tmp"/asan.* 2>/dev/null) || true
[[ -z $found ]] || die "$(cat "$found")"
# The first frame below the allocator is ours.
leaks=$(grep -hA 2 '^\(Direct\|Indirect\) leak' "$tmp"/asan.* 2>/dev/null |
    grep -E '#1 .* in [a-z0-9_]+ ([^ ]*/)?src/[a-z]+/[a-z0-9_]+\.c:') || true
[[ -z $leaks ]] || die "leaks: $(sort <<<"$leaks" | uniq -c)"
checks=$((checks + 2))
passed
