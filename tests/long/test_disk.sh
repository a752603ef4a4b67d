#!/usr/bin/env bash
# test_disk.sh [SEED] - a run on a small file system of its own that is full at 20 places
# of the run, over a limit, read-only, gone, dead, or slow.  Each time: exit status 74 with
# one sentence, the previous checkpoint stays usable, no torn file has its final name, and
# with the disk in order again the run ends with the bits of an undisturbed one.
. tests/cli/lib.sh
((EUID == 0)) || {
    echo "skipped: $name: only root may mount"
    exit 77
}
seed=${1:-5}
RANDOM=$seed
dapo=$(realpath "$dapo")
compare=$PWD/tests/cli/compare_runs.py
disk=$tmp/disk runs=$tmp/disk/runs
mkdir "$tmp/store" "$disk"

# The file system is mounted at $tmp/store; the runs see it at $disk.
attach() {
    mount -o loop "$tmp/image" "$tmp/store" 2>/dev/null && mount --bind "$tmp/store" "$disk"
}
detach() {
    umount -l "$disk" 2>/dev/null || true
    umount -l "$tmp/store" 2>/dev/null || true
    # Ranks may outlive mpirun a little, and with them what they had open.
    for _ in {1..200}; do
        losetup -j "$tmp/image" | grep -q . || break
        sleep 0.1
    done
}
trap 'detach; rm -rf "$tmp"' EXIT
truncate -s 16M "$tmp/image"
kind=ext4
if ! mkfs.ext4 -q -F -m 0 -E lazy_itable_init=0 "$tmp/image" 2>/dev/null || ! attach; then
    kind=tmpfs
    if ! mount -t tmpfs -o size=12m tmpfs "$tmp/store" 2>/dev/null ||
        ! mount --bind "$tmp/store" "$disk"; then
        echo "skipped: $name: can't mount here"
        exit 77
    fi
fi
echo "$kind, seed $seed"
coin_job "$tmp/c"
cd "$tmp/c/in"

# So that what is to happen in the middle of a run finds it there.
slowly=(--set debug.iteration_s=0.05)
# begin RUN ARGUMENTS...: in the background; $pid.  end: its exit status in $rc.
begin() {
    : >"$tmp/log"
    on 3 "$dapo" train "$tmp/c/job.ini" --set run.dir="$runs" --set run.name="$1" \
        --set run.steps=6 --set run.keep=0 --set run.log=info --set data.eval= "${@:2}" \
        >"$tmp/log" 2>&1 &
    pid=$!
}
end() {
    rc=0
    wait "$pid" || rc=$?
}
train() {
    begin "$@"
    end
}
until_said() { # PATTERN
    until grep -q -- "$1" "$tmp/log" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
}
room() { df --output=avail -k "$tmp/store" | tail -n 1; }
leave() { # KIB: a ballast file leaves this much room, or less: it takes blocks of its own
    local n=$(($(room) - $1))
    ((n <= 0)) ||
        dd if=/dev/zero of="$tmp/store/ballast" bs=1k count="$n" status=none 2>/dev/null || true
}
fill() { dd if=/dev/zero of="$tmp/store/ballast.$RANDOM" bs=16k status=none 2>/dev/null || true; }

# failed WHERE: so did the last run, and what it left is sound.
failed() {
    [ "$rc" -eq 74 ] || die "$1: exit status $rc, not 74: $(cat "$tmp/log")"
    [ "$(grep -cE '^dapo: |; ending the job$' "$tmp/log")" -eq 1 ] ||
        die "$1: not one sentence: $(cat "$tmp/log")"
    sound "$1"
    grep -E '^dapo: |; ending the job$' "$tmp/log" |
        sed -E "s|.*/runs/[^/]*/||; s/[0-9]{5,}/N/g; s/ [0-9]+ bytes/ N bytes/; s/^/    /" >>"$tmp/said"
    checks=$((checks + 1))
}
sound() {
    local run=$runs/place latest
    [ -d "$run/checkpoints" ] || return 0
    latest=$(cat "$run/checkpoints/latest" 2>/dev/null) || latest=
    [ -z "$latest" ] || [ -e "$run/checkpoints/$latest" ] || die "$1: latest names $latest"
    "$dapo" verify --quiet "$run" >"$tmp/out" 2>&1 || die "$1: damage: $(cat "$tmp/out")"
    [ -z "$(find "$run" -name '*.tmp')" ] || die "$1: left: $(find "$run" -name '*.tmp')"
}
# Now with room: to the end, with the same bits.
goes_on() {
    rm -f "$tmp/store"/ballast*
    train place
    [ "$rc" -eq 0 ] || die "$1: it doesn't go on: $(cat "$tmp/log")"
    "$dapo" verify --quiet "$runs/place" >"$tmp/out" || die "$1: $(cat "$tmp/out")"
    ok "$python" "$compare" trained,tokens,ledger,weights,metrics "$tmp/calm" "$runs/place"
    rm -rf "$runs/place"
}

before=$(room)
train calm
[ "$rc" -eq 0 ] || die "an undisturbed run failed: $(cat "$tmp/log")"
# What it takes: its files, and the room a checkpoint asks for before it is written.
takes=$((before - $(room) + 1024))
mv "$runs/calm" "$tmp/calm"

echo "20 times full: at the start but for some room, and at random instants"
for place in {1..10}; do
    kib=$((place <= 3 ? RANDOM % (10 ** place) / 5 : takes * (place - 3) / 8 + RANDOM % (takes / 8)))
    where="room for $kib KiB of $takes"
    leave $kib
    train place
    failed "$where"
    goes_on "$where"
done
place=0 most=1500
while ((place < 10)); do
    ms=$((RANDOM % most))
    begin place
    until_said 'dapo build='
    sleep "$(printf '%d.%03d' $((ms / 1000)) $((ms % 1000)))"
    fill
    end
    if ((rc == 0)); then # it was over before
        most=$((most * 3 / 4))
    else
        place=$((place + 1))
        failed "full after $ms ms"
    fi
    goes_on "full after $ms ms"
done
# No room for the index only, which HDF5 makes in one process.
train place
leave 20
rc=0
"$dapo" repair "$runs/place" >"$tmp/log" 2>&1 || rc=$?
failed "no room for the index"
ok grep -q 'run.h5.tmp: can.t be written' "$tmp/said"
goes_on "no room for the index"
sort "$tmp/said" | uniq -c | sort -rn
: >"$tmp/said"

echo "a limit on the size of files, as a quota would: no checkpoint, no step file"
for kib in 400 30; do
    begin place "${slowly[@]}" # MPI's own files come before the limit
    until_said 'dapo build='
    for process in $(pgrep -f "^$dapo train $tmp/c/job.ini"); do
        prlimit --pid "$process" --fsize=$((kib * 1024)) || true
    done
    end
    failed "files of at most $kib KiB"
    goes_on "files of at most $kib KiB"
done

echo "a folder that vanishes (umount -l) and comes back"
begin place "${slowly[@]}"
until_said ' step=2 '
umount -l "$disk"
end
[ -z "$(ls -A "$disk")" ] || die "something was written where the disk was: $(ls "$disk")"
mount --bind "$tmp/store" "$disk"
failed "vanished"
goes_on "vanished"

# A disk that stops in the middle: $1 says how; what it held then is what counts.
stopped() { # WHAT
    end
    detach
    # Mounted in another namespace (a Slurm of several nodes here) it is not to be checked.
    [ -z "$(losetup -j "$tmp/image")" ] || die "$1: the disk is in use elsewhere"
    e2fsck -fy "$tmp/image" >/dev/null 2>&1 || (($? < 4)) || die "$1: e2fsck: $?"
    attach || die "$1: no mount"
    failed "$1"
    goes_on "$1"
}
if [ $kind = ext4 ]; then
    echo "a file system that turns read-only after an error"
    loop=$(findmnt -n -o SOURCE "$tmp/store")
    trigger=/sys/fs/ext4/${loop##*/}/trigger_fs_error
    mount -o remount,errors=remount-ro "$tmp/store"
    begin place "${slowly[@]}"
    until_said ' step=2 '
    if echo test >"$trigger" 2>/dev/null; then
        stopped read-only
        ok grep -q 'Read-only' "$tmp/said"
    else
        end
        echo "skipped: $name: read-only: $trigger can't be written"
    fi
    echo "a disk that dies: every operation fails"
    begin place "${slowly[@]}"
    until_said ' step=3 '
    # EXT4_IOC_SHUTDOWN, without writing the journal
    if "$python" -c 'import fcntl, os, struct, sys
fcntl.ioctl(os.open(sys.argv[1], os.O_RDONLY), 0x8004587D, struct.pack("I", 2))' "$tmp/store"; then
        stopped dead
    else
        end
        echo "skipped: $name: a dead disk: this kernel can't simulate one"
    fi
fi

echo "a slow disk: nothing but time is lost; past the watchdog's patience it ends with 75"
${CC:-cc} -shared -fPIC -O1 -o "$tmp/slow_sync.so" "$OLDPWD/tests/long/slow_sync.c"
slow() { # SECONDS ARGUMENTS...
    SLOW_SYNC=$1 LD_PRELOAD=$tmp/slow_sync.so begin place "${@:2}"
    end
}
slow 0.1
[ "$rc" -eq 0 ] || die "a slow disk: exit status $rc: $(cat "$tmp/log")"
ok "$python" "$compare" trained,tokens,ledger,weights,metrics "$tmp/calm" "$runs/place"
rm -rf "$runs/place"
SLOW_RANK=0 slow 20 --set train.watchdog_s=2
[ "$rc" -eq 75 ] || die "a disk that hangs: exit status $rc, not 75: $(cat "$tmp/log")"
grep -qE 'rank 0 .*: phase (step file|checkpoint|start|resume)' "$tmp/log" ||
    die "the phase is not named: $(cat "$tmp/log")"
goes_on "a disk that hangs"
cat "$tmp/said"
passed
