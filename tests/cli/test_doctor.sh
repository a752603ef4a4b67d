#!/usr/bin/env bash
# test_doctor.sh - dapo doctor alone and under mpirun, on a sound machine and where
# something is wrong with it; what of that dapo train notices before it starts.
. tests/cli/lib.sh
coin_job "$tmp/c"
job=$tmp/c/job.ini
for key in model train eval; do
    [ $key = model ] && file=model || file=$key.jsonl
    sed -i "s|= $file\$|= $tmp/c/in/$file|" "$job"
done
${CC:-cc} -shared -fPIC -O1 -o "$tmp/fake_site.so" tests/cli/fake_site.c
run=$tmp/c/runs

# finds STATUS PATTERN... -- COMMAND...: its exit status and lines.
finds() {
    local want=$1 patterns=() rc=0
    shift
    while [ "$1" != -- ]; do
        patterns+=("$1")
        shift
    done
    shift
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq "$want" ] || die "exit status $rc, not $want: $* ($(cat "$tmp/out" "$tmp/err"))"
    for pattern in "${patterns[@]}"; do
        has "$pattern"
    done
    [ -z "$(find "$tmp" -name '.dapo-doctor*')" ] || die "a folder is left: $*"
    [ $rc -eq 0 ] || [ "$(grep -c '^dapo: .* check.* failed, first ' "$tmp/err")" -eq 1 ] ||
        die "not one sentence: $(cat "$tmp/err")"
}
spoilt() { LD_PRELOAD=$tmp/fake_site.so "$@"; }

echo "a sound machine, alone and on 3 ranks"
finds 0 '^ok +ranks +1, without a launcher$' '^ok +pmix +client ' '^ok +time +no limit known' \
    '^ok +cpus +1 rank of 1 thread' '^ok +processor ' '^ok +memory .* free on ' \
    '^ok +libraries +Open MPI .*HDF5 1\..*oneDNN ' '^ok +grader +GMP' \
    '^ok +message +1.00 MiB to itself: ' '^(ok|warning) +message +5.12 MiB to itself: ' \
    '^ok +locks +another process is kept out$' '^ok +space .* left$' '^ok +fsync ' \
    '^ok +files .*by 1 rank: .* written.*; given up, it is not there; torn, it is refused$' \
    -- "$dapo" doctor --dir "$run/r" --message 0.005
[ ! -e "$run/r" ] || die "a run directory was made"
# By test_plan.sh's arithmetic: 4 checkpoints of 12 * 25,888 + 2^20 bytes, 3 step files of
# 65,536 + 12 * 80 + 48 * (104 + 64 + 8 * 16).
finds 0 '^ok +job +[0-9.]+ MiB a rank, 5.42 MiB on disk' '^ok +ranks +3 on 1 node, started by mpirun$' \
    '^ok +ring +3 ranks' '^ok +clocks +equal to [0-9.]+ ms$' \
    '^ok +memory +3 ranks of .* need up to [0-9.]+ MiB, and' \
    '^(ok|warning) +message +5.12 MiB from rank 0 to rank 1: ' '^ok +files .*by 2 ranks: ' \
    '^ok +space .* left; the whole run needs up to 5.42 MiB$' \
    -- on 3 "$dapo" doctor "$job" --message 0.005
finds 0 '^ok +fsync' -- "$dapo" doctor "$job" --fast
! grep -qE '^[a-z]+ +(files|python|time)' "$tmp/out" || die "--fast took its time"

echo "launched wrongly"
finds 78 '^failure +ranks +1 rank, but SLURM_NTASKS = 4: .* -- start it by .srun --mpi=pmix' \
    -- env SLURM_JOB_ID=7 SLURM_NTASKS=4 "$dapo" doctor --fast
finds 78 '^failure +ranks +srun started 4 processes and each believes that it is alone -- ' \
    -- env SLURM_JOB_ID=7 SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4 "$dapo" doctor --fast
SLURM_NTASKS=4 finds 0 '^warning +ranks +2 ranks, but SLURM_NTASKS = 4 -- ' \
    -- on 2 "$dapo" doctor --fast
finds 78 '^failure +job +ranks.learners = 3 leaves no rank to generate' \
    -- on 3 "$dapo" doctor "$job" --fast --set ranks.learners=3
finds 0 '^warning +cpus +1 rank of 1000 threads on .* -- ' \
    -- "$dapo" doctor "$job" --fast --set ranks.threads=1000
mkdir "$tmp/bin"
for tool in srun squeue; do
    # shellcheck disable=SC2016 # for the script that is written
    printf '#!/bin/sh\necho "$FAKE_%s"\n' $tool >"$tmp/bin/$tool"
done
chmod +x "$tmp/bin"/*
finds 0 '^warning +pmi +Slurm has no pmix: none pmi2 -- ' \
    '^warning +time +20 s left in this allocation -- ' \
    '^warning +python +/bin/false has no h5py' \
    -- env PATH="$tmp/bin:$PATH" SLURM_JOB_ID=7 FAKE_srun='MPI plugin types are... none pmi2' \
    FAKE_squeue=0:20 PYTHON=/bin/false "$dapo" doctor --message 0.005 --dir "$tmp"
finds 0 '^ok +pmi +none pmix$' '^ok +time +26.0 h left' \
    -- env PATH="$tmp/bin:$PATH" SLURM_JOB_ID=7 FAKE_srun='MPI plugin types are... none pmix' \
    FAKE_squeue=1-02:00:10 "$dapo" doctor --message 0.005 --dir "$tmp"

echo "limits and memory"
finds 0 '^warning +limits +200 open files' -- bash -c 'ulimit -n 200; "$@"' - "$dapo" doctor --fast
finds 78 '^warning +memory +1 rank of .* needs up to [0-9.]+ [GT]iB, and .* free -- ' \
    '^failure +limits +address space 7.63 GiB, and a rank needs up to [0-9.]+ [GT]iB -- ulimit -v' \
    -- bash -c 'ulimit -v 8000000; "$@"' - "$dapo" doctor "$job" --fast \
    --set admission.groups=1000000 --set admission.group_size=500
finds 0 '^warning +message +1.00 TiB was not sent: memory is short -- ' \
    -- "$dapo" doctor --dir "$tmp" --message 1024
FAKE_SKEW=5 finds 0 '^warning +clocks +rank 1 on .* is \+5\.0 s off rank 0.s -- ' \
    -- spoilt on 3 "$dapo" doctor --fast

echo "file systems"
for n in 1 3; do
    FAKE_LOCKS=none finds 0 '^warning +locks .*has none: No locks available -- ' \
        -- spoilt on $n "$dapo" doctor --fast --dir "$run"
    FAKE_LOCKS=alone finds 0 '^warning +locks +another process does not meet rank 0.s lock -- ' \
        -- spoilt on $n "$dapo" doctor --fast --dir "$run"
done
FAKE_SYNC=0.6 finds 0 '^warning +fsync +0\.6[0-9] s for 4 KiB' -- spoilt "$dapo" doctor --fast
rc=0
FAKE_LOCKS=hang spoilt "$dapo" doctor --fast --dir "$tmp" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc -eq 71 ] || die "a hang: exit status $rc"
grep -qE '^dapo: rank 0 on .*: a lock in the run folder: no progress for 120 s' "$tmp/err" ||
    die "a hang: $(cat "$tmp/err")"
rm -rf "$tmp"/.dapo-doctor*
disk=$tmp/disk
mkdir "$disk"
disk() { # OPTIONS: a file system of its own at $disk; root only
    mountpoint -q "$disk" && umount "$disk"
    mount -t tmpfs -o "$1" tmpfs "$disk" 2>/dev/null
}
if disk size=1m; then
    trap 'umount "$disk"; rm -rf "$tmp"' EXIT
    finds 74 '^failure +space +1.00 MiB left for the run, and a checkpoint needs 1.30 MiB -- ' \
        -- "$dapo" doctor "$job" --fast --set run.dir="$disk"
    refused 74 'space: 1.00 MiB left for the run, and a checkpoint needs 1.30 MiB; free some' \
        on 3 "$dapo" train "$job" --set run.dir="$disk"
    finds 74 '^failure +files .*no room for its' -- "$dapo" doctor --dir "$disk" --message 0.005
    disk size=1332k
    finds 0 '^warning +space +1.30 MiB left for the run; a checkpoint and a step file need up to' \
        -- "$dapo" doctor "$job" --fast --set run.dir="$disk"
    disk size=3m,nr_inodes=20
    finds 0 '^warning +space +3.00 MiB left; the whole run needs up to ' \
        '^warning +space +1[0-9] files can still be made, the run makes up to 23 -- ' \
        -- "$dapo" doctor "$job" --fast --set run.dir="$disk"
    disk ro
    finds 74 '^failure +run folder .*/disk: can.t make a folder in it: Read-only file system -- ' \
        -- "$dapo" doctor "$job" --set run.dir="$disk/x/y" --message 0.005
    refused 74 'run folder: .*Read-only file system; set run.dir' \
        "$dapo" train "$job" --set run.dir="$disk"
    umount "$disk"
    trap 'rm -rf "$tmp"' EXIT
fi

echo "what a run says of it: only what is wrong"
ok "$dapo" train "$job"
[ ! -s "$tmp/err" ] || die "a run on a sound machine warns: $(cat "$tmp/err")"
refused 78 'ranks: 1 rank, but SLURM_NTASKS = 4' env SLURM_NTASKS=4 "$dapo" train "$job"
rm -rf "$run"
FAKE_LOCKS=none ok spoilt "$dapo" train "$job"
grep -qE ' W r0000 locks: the run folder.s file system has none: No locks' "$tmp/err" ||
    die "nothing said of locks: $(cat "$tmp/err")"
ok "$dapo" train "$job" --set run.steps=4 --set run.log=info
grep -q 'libraries="Open MPI' "$run/r/log.txt" || die "the head of the log names no libraries"

finds 74 "^failure +run folder +$job is not a folder -- set run.dir" \
    -- "$dapo" doctor --fast --dir "$job/x"
fails 64 '--message 0' "$dapo" doctor --message 0
fails 64 'too many' "$dapo" doctor "$job" x
fails 74 'none.ini' "$dapo" doctor none.ini
passed
