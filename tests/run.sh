#!/usr/bin/env bash
# run.sh HOW TEST... - run each test under a time limit; a hang is a failure.
#   HOW   "unit" or "cli" (run directly), or an mpirun command line to put in front
# Exit status 0 if every test ended with 0 or 77 (skipped).  The last line is
# "N passed, N failed, N skipped".
set -u
read -ra how <<<"$1"
shift
limit=${TEST_TIMEOUT:-600}
passed=0 failed=0 skipped=0
# Open MPI keeps what it once took, so leaks are looked for in unit tests only; tests of
# absurd sizes want NULL, not an abort.
leaks=0
[ "${how[0]}" != unit ] || leaks=1
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=$leaks:allocator_may_return_null=1}
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}
# Open MPI makes and removes this folder with each mpirun; of two that start and end at
# once one may fail.  With a folder in it, it stays.
host=$(uname -n)
mkdir -p "${TMPDIR:-/tmp}/ompi.${host%%.*}.$(id -u)/keep"
for t in "$@"; do
    out=$(mktemp)
    case ${how[0]} in
    unit | cli) timeout -k 5 "$limit" "$t" >"$out" 2>&1 ;;
    *) timeout -k 5 "$limit" "${how[@]}" "$t" >"$out" 2>&1 ;;
    esac
    rc=$?
    case $rc in
    0) passed=$((passed + 1)) && grep -E '^skipped:|passed,' "$out" ;;
    77) skipped=$((skipped + 1)) && tail -n 1 "$out" ;;
    *)
        failed=$((failed + 1))
        cat "$out"
        [ $rc -eq 124 ] && echo "TIMEOUT after ${limit} s"
        echo "FAILED ($rc): $t"
        ;;
    esac
    rm -f "$out"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
