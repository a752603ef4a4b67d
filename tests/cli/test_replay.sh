#!/usr/bin/env bash
# dapo replay: a recorded run meets its own batches again, under any policy that goes by
# candidate order, and its own schedule but for the iterations that only read prompts.
. tests/cli/lib.sh
root=$PWD
dapo=$root/$dapo
coin_job "$tmp"
cd "$tmp/in"
job=$tmp/job.ini
ok on 4 "$dapo" train "$job" --set run.steps=6 --set run.name=a --set rollout.slice=2
run=$tmp/runs/a

# figure POLICY COLUMN: of the CSV written last.
figure() {
    awk -F, -v p="$1" -v c="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == c) k = i }
        $1 == p { print $k }' "$tmp/csv"
}
# near A B PERCENT: two numbers differ by no more.
near() {
    awk -v a="$1" -v b="$2" -v p="$3" \
        'BEGIN { exit !(a - b <= p * b / 100 && b - a <= p * b / 100) }' ||
        die "$1 is not within $3% of $2"
    checks=$((checks + 1))
}

ok "$dapo" replay "$run" --csv "$tmp/csv"
has 'steps 1 to 6, B=3 G=4, 3 replicas of 8 slots'
has '^recorded '
[ "$(figure own same_batches)" = 6 ] || die "other batches: $(cat "$tmp/csv")"
near "$(figure own step_seconds)" "$(figure recorded step_seconds)" 0.01
near "$(figure own tokens)" "$(figure recorded tokens)" 10
near "$(figure own candidates)" "$(figure recorded candidates)" 10
[ "$(figure recorded drawn_tokens)" = 0 ] || die "the record was drawn"

# Others that go by candidate order train the same, at another price; what no step
# started is drawn, and said so.
for other in admission.refill=waves admission.refill=full admission.speculation=0 \
    admission.speculation=1 rollout.slots=4; do
    ok "$dapo" replay "$run" --set "$other" --csv "$tmp/csv"
    [ "$(figure other same_batches)" = 6 ] || die "$other: $(cat "$tmp/csv")"
    checks=$((checks + 1))
done
ok "$dapo" replay "$run" --sweep admission.refill=full,stream --sweep replicas=1,40 \
    --csv "$tmp/csv"
[ "$(grep -c '^other,' "$tmp/csv")" -eq 4 ] || die "sweep: $(cat "$tmp/csv")"
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "drawn_groups") k = i }
    $1 == "other" && $2 == "full" && $3 == 40 && $k > 0 { found = 1 }
    END { exit !found }' "$tmp/csv" || die "full rounds of what was recorded only"

# A part of the run; a run whose surplus was resumed; one in completion order.
ok "$dapo" replay "$run" --first 3 --last 4 --csv "$tmp/csv"
[ "$(figure own same_batches)" = 2 ] || die "steps 3 and 4: $(cat "$tmp/csv")"
ok on 3 "$dapo" train "$job" --set run.steps=4 --set run.name=b --set admission.max_age=9 \
    --set admission.surplus=resume
ok "$dapo" replay "$tmp/runs/b" --set admission.surplus=discard --csv "$tmp/csv"
[ "$(figure own same_batches)" = 4 ] || die "resumed: $(cat "$tmp/csv")"
[ "$(figure other same_batches)" = 4 ] || die "not resumed: $(cat "$tmp/csv")"
ok on 3 "$dapo" train "$job" --set run.steps=3 --set run.name=c \
    --set admission.order=completion
ok "$dapo" replay "$tmp/runs/c"

# What can't be done.
fails 64 'too few arguments' "$dapo" replay
fails 65 'no step files in steps 7 to' "$dapo" replay "$run" --first 7
fails 64 'admission.group_size can.t be replayed otherwise' \
    "$dapo" replay "$run" --set admission.group_size=8
fails 64 'optimizer.lr can.t be replayed otherwise' \
    "$dapo" replay "$run" --sweep optimizer.lr=2e-3
fails 64 'want a setting as section.key, or one of replicas' \
    "$dapo" replay "$run" --sweep half=3
fails 78 'admission.speculatoin' "$dapo" replay "$run" --set admission.speculatoin=1
fails 74 "$tmp/none/job.ini" "$dapo" replay "$tmp/none"
cp -r "$run" "$tmp/gap"
rm "$tmp/gap/rollouts/step-000002.h5"
fails 65 'the file of step 2 is missing' "$dapo" replay "$tmp/gap"
fails 65 "step 3 can't be replayed without" "$dapo" replay "$tmp/gap" --first 3
fails 74 "$tmp/nowhere/x.csv: can't be written" \
    "$dapo" replay "$run" --csv "$tmp/nowhere/x.csv"
passed
