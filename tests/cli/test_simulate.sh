#!/usr/bin/env bash
# dapo simulate: figures of a simulation written independently, what may not matter, files.
. tests/cli/lib.sh
cat >"$tmp/job.ini" <<X
[rollout]
max_tokens = 1024
slots = 64
[admission]
groups = 4
group_size = 8
[reward]
overlong = off
X
job=$tmp/job.ini

# figure ROW COLUMN: of the CSV written last; rows count from 1.
figure() {
    awk -F, -v r="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i }
        NR == r + 1 { print $k }' "$tmp/csv"
}

# A part of the tables; tests/long/test_sim.sh takes all.
compare=tests/ref/sim/compare.py
DAPO=$dapo ok "$python" $compare tests/ref/sim/b4.txt --only 'S=64 .*P\(valid\)=0.50'
DAPO=$dapo ok "$python" $compare tests/ref/sim/b512.txt --only 'S=256 .*P\(valid\)=0.50' \
    --policies '^wave|^full|stream\(.5' --steps 10

# The same again, to the byte; and every policy that goes by candidate order trains the
# same groups: equal mean lengths, of the same bound.
ok "$dapo" simulate "$job" --steps 100 --sweep admission.refill=waves,full,stream \
    --sweep rollout.slots=16,64 --csv "$tmp/csv"
has '^refill slots '
cp "$tmp/csv" "$tmp/one"
ok "$dapo" simulate "$job" --steps 100 --sweep admission.refill=waves,full,stream \
    --sweep rollout.slots=16,64 --csv "$tmp/csv"
same "$tmp/csv" "$tmp/one"
[ "$(wc -l <"$tmp/csv")" -eq 7 ] || die "points: $(cat "$tmp/csv")"
for row in 2 3 4 5 6; do
    [ "$(figure $row length_bias)" = "$(figure 1 length_bias)" ] || die "row $row"
    checks=$((checks + 1))
done

# Half an iteration's cost per sequence: twice the time for h of them.
ok "$dapo" simulate "$job" --steps 50 --step-seconds 0.5 --sweep half=8 --csv "$tmp/csv"
half=$(figure 1 step_seconds)
ok "$dapo" simulate "$job" --steps 50 --step-seconds 1 --sweep half=8 --csv "$tmp/csv"
awk -v a="$half" -v b="$(figure 1 step_seconds)" 'BEGIN { exit !(2 * a == b) }' ||
    die "$half s is not half of $(figure 1 step_seconds) s"

# A policy that trains nothing has no price, rather than none.
ok "$dapo" simulate "$job" --steps 3 --sweep admission.max_seconds=0.001,0 --step-seconds 1 \
    --csv "$tmp/none.csv"
has '^0.001 +- +- +- +- '
grep -q '^0.001,nan,nan,nan,nan,' "$tmp/none.csv" || die "$(cat "$tmp/none.csv")"

# Thousands of replicas; recorded pass rates and lengths.
ok "$dapo" simulate "$job" --replicas 4096 --steps 2 --set admission.groups=512
has 'replicas=4096 slots=64 steps=2'
if [ -d "$data" ]; then
    ok "$dapo" simulate "$job" --rates "$data/rollouts/acc_step_500.osr.json" \
        --lengths "$data/rollouts/math100x8_lengths.csv" --steps 200
    has 'pass rates: .*acc_step_500'
fi

# A page of it.
if $python -c 'import pandas, matplotlib' 2>/dev/null; then
    ok "$python" analysis/simulate.py "$tmp/one"
    [ -s "$tmp/one.png" ] || die "no page"
    ok "$python" analysis/simulate.py "$tmp/one" --where rollout.slots=16 --out "$tmp/p.png"
    [ "$(head -c 4 "$tmp/p.png" | tail -c 3)" = PNG ] || die "no PNG"
    ok "$python" analysis/simulate.py "$tmp/none.csv"
    ! "$python" analysis/simulate.py "$job" 2>"$tmp/err" || die "a job file was drawn"
    grep -q 'is no table of dapo simulate' "$tmp/err" || die "$(cat "$tmp/err")"
    ! "$python" analysis/simulate.py "$tmp/one" --where slots=1 2>"$tmp/err" || die "where"
    grep -q 'want one of admission.refill, rollout.slots' "$tmp/err" || die "$(cat "$tmp/err")"
    checks=$((checks + 3))
fi

fails 64 'needs a job file' "$dapo" simulate
fails 78 'P\(trainable\) = 0.99 is out of reach of groups of 8: want it in \[0\.[0-9]' \
    "$dapo" simulate "$job" --trainable 0.99
fails 64 '--sweep admission.groups: want KEY=VALUE' "$dapo" simulate "$job" --sweep admission.groups
fails 64 'a value is empty' "$dapo" simulate "$job" --sweep admission.groups=1,,2
fails 64 'want a setting as section.key, or one of replicas\|half\|trainable' \
    "$dapo" simulate "$job" --sweep slots=1
fails 64 '--sweep half: twice' "$dapo" simulate "$job" --sweep half=1 --sweep half=2
fails 64 '--sweep half: x: want a number' "$dapo" simulate "$job" --sweep half=x
fails 78 'admission.group:.*admission.groups' "$dapo" simulate "$job" --sweep admission.group=1
fails 74 "$tmp/none: can't be" "$dapo" simulate "$job" --rates "$tmp/none"
fails 65 "$job: line 1" "$dapo" simulate "$job" --rates "$job"
fails 65 'want CSV with columns' "$dapo" simulate "$job" --lengths "$job"
fails 74 "$tmp/none" "$dapo" simulate "$job" --speed "$tmp/none"
fails 74 "$tmp/none/csv: can't be written" "$dapo" simulate "$job" --csv "$tmp/none/csv"
fails 64 'unknown option --slots' "$dapo" simulate "$job" --slots 3
passed
