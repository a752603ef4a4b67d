#!/usr/bin/env bash
# all.sh MAKE TARGET... - build and run test targets one after another, go on after a
# failure, and end in the sum of their closing lines: "N passed, N failed, N skipped".
# A target that ends without a closing line (it did not build) counts as one failure.
set -u
read -ra make <<<"$1"
shift
[[ ${MAKEFLAGS-} == *jobserver* ]] || make+=(-j "$(nproc)")

log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0
for target in "$@"; do
    echo "== $target"
    "${make[@]}" --no-print-directory "$target" 2>&1 | tee "$log"
    rc=${PIPESTATUS[0]}
    before=$failed
    while read -r p _ f _ s _; do
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    done < <(grep -E '^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$' "$log")
    ((rc == 0 || failed > before)) || failed=$((failed + 1))
done
echo "$passed passed, $failed failed, $skipped skipped"
((failed == 0))
