#!/usr/bin/env bash
# Invariant 7, with SIGKILL: ranks die while they write checkpoints one after another.
# Whatever carries a final name is complete, and the run goes on from it.  And a disk that
# fails in the middle of a write ends the job at once, with a sentence.
set -u
mode=${MODE:-release}
program=build/$mode/tests/mpi/test_checkpoint
make -s MODE="$mode" "$program" || exit 1
python=${PYTHON:-/usr/bin/python3}
"$python" -c 'import h5py' || exit 77
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
mpirun=(mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1
    --mca btl_vader_single_copy_mechanism none
    --mca btl_vader_backing_directory "$dir" -n 2)
failed=0
fail() {
    echo "$*"
    failed=$((failed + 1))
}

# Every final name opens, says that it is complete, and holds all its values.
check_files() {
    "$python" - "$dir/run" <<'EOF'
import glob, sys
import h5py
files = sorted(glob.glob(sys.argv[1] + "/checkpoints/step-*.h5"))
for name in files:
    with h5py.File(name, "r") as f:
        assert f.attrs["complete"] == 1, name
        assert len(f["params"]) == 100000, name
        assert f["moment2"][99999] > 0, name
print(len(files))
EOF
}

count_files() {
    find "$dir/run/checkpoints" -name 'step-*.h5' 2>/dev/null | wc -l
}

export DAPO_TEST_KILL="$dir/run" TMPDIR=$dir
before=0 swept=0
for round in 1 2 3 4; do
    setsid "${mpirun[@]}" "$program" writes_until_killed >"$dir/log" 2>&1 &
    leader=$!
    # Once it is at it, at another moment of a checkpoint each time.
    for ((i = 0; i < 400; i++)); do
        [ "$(count_files)" -gt "$before" ] && break
        sleep 0.05
    done
    sleep "0.0$((1 + 2 * round))7"
    # All at once: a rank that lives must not be able to finish what another began.
    mapfile -t ranks < <(pgrep -P "$leader")
    [ "${#ranks[@]}" -gt 0 ] || fail "round $round: nobody to kill: $(cat "$dir/log")"
    kill -KILL "${ranks[@]}" "$leader"
    wait "$leader" 2>/dev/null
    swept=$((swept + $(find "$dir/run" -name '*.h5.tmp' | wc -l)))
    count=$(check_files) || fail "round $round: a file is torn"
    [ "${count:-0}" -gt "$before" ] || fail "round $round: no progress ($before, $count)"
    before=${count:-0}
done

# Go on once more, from what is there: this run reads the newest and ends by itself.
DAPO_TEST_KILL_COUNT=3 timeout 60 "${mpirun[@]}" "$program" writes_until_killed >"$dir/log" 2>&1 ||
    fail "going on failed: $(cat "$dir/log")"
[ -z "$(find "$dir/run" -name '*.tmp')" ] || fail "temporary files are left"
unset DAPO_TEST_KILL

DAPO_TEST_LIMIT="$dir/limit" timeout 60 "${mpirun[@]}" "$program" past_a_limit >"$dir/log" 2>&1
rc=$?
[ $rc -eq 74 ] || fail "a failing disk gave status $rc: $(cat "$dir/log")"
grep -q 'step-000001.h5: can.t be closed' "$dir/log" || fail "no sentence: $(cat "$dir/log")"
[ -z "$(find "$dir/limit" -name '*.h5*')" ] || fail "a torn file is left"

echo "kill: $before checkpoints survived, $swept half written, $failed failed"
[ $failed -eq 0 ]
