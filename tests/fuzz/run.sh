#!/usr/bin/env bash
# run.sh PROGRAM SECONDS - fuzz with all processors from the corpus beside PROGRAM, which
# is seeded from the cases in DAPO_DATA; inputs that fail are left in crashes/ there.
set -eu
program=$1
seconds=$2
dir=$(dirname "$program")
data=${DAPO_DATA:-../shared/data}
mkdir -p "$dir/corpus" "$dir/crashes"
if [ ! -e "$dir/corpus/seeded" ]; then
    "${PYTHON:-/usr/bin/python3}" tests/fuzz/seeds.py "$data/grader" "$dir/corpus"
    touch "$dir/corpus/seeded"
fi
echo "fuzzing for $seconds s from $(find "$dir/corpus" -type f | wc -l) inputs"
"$program" -fork="${JOBS:-$(nproc)}" -max_total_time="$seconds" -max_len=4096 -timeout=2 \
    -rss_limit_mb=1024 -dict=tests/fuzz/math.dict -artifact_prefix="$dir/crashes/" \
    -print_final_stats=1 "$dir/corpus" 2>&1 |
    grep -vE '^( *NEW_FUNC|#[0-9]+: cov:)' | tail -n "${LINES_SHOWN:-60}"
[ "${PIPESTATUS[0]}" -eq 0 ] || exit 1
echo "nothing found"
