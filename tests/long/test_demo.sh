#!/usr/bin/env bash
# test_demo.sh - the demo learns: held-out accuracy rises from under 50% to over 75%,
# three seeds out of three, and its bill balances.
. tests/cli/lib.sh
for seed in 1 2 3; do
    ok jobs/demo.sh "$seed"
    line=$(grep '^held-out accuracy: ' "$tmp/out") || die "no accuracy: $(tail "$tmp/err")"
    echo "seed $seed: $line"
    [[ $line =~ ([0-9]+)\.[0-9]%\ before,\ ([0-9]+)\.[0-9]%\ after ]] || die "$line"
    ((BASH_REMATCH[1] < 50 && BASH_REMATCH[2] >= 75)) || die "$line"
    has "every step's ledger equals its token rows"
    for png in waste curves; do
        [ "$(stat -c %s "runs/demo_dapo_$seed/$png.png")" -gt 10000 ] || die "no $png.png"
    done
done
passed
