#!/usr/bin/env bash
# Every pair of different gold answers, some 1.5 million: each one that grader = math
# accepts must be on the list golds_accepted.txt, which says why it is right to.
. tests/cli/lib.sh
needs_data
list=tests/long/golds_accepted.txt
"$python" tests/long/gold_pairs.py "$data/grader/golds.jsonl" |
    "$dapo" grade - --threads "$(nproc)" 2>"$tmp/err" |
    grep '"correct": true' | jq -r .id | sort -u >"$tmp/accepted"
cat "$tmp/err"
grep -qE '^rows: 1[0-9]{6}, malformed 0' "$tmp/err" || die "rows are missing"

# Columns of the list: a text, another, the reason; either may be the gold.
grep -v '^#' "$list" | awk -F'\t' 'NF == 3 {print $1 FS $2; print $2 FS $1}' | sort -u \
    >"$tmp/listed"
comm -23 "$tmp/accepted" "$tmp/listed" >"$tmp/new"
echo "accepted: $(wc -l <"$tmp/accepted") different pairs"
[ ! -s "$tmp/new" ] || die "accepted, but not on $list: $(cat "$tmp/new")"
checks=$((checks + 1))
passed
