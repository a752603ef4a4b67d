#!/usr/bin/env bash
# The analysis against numbers counted by hand, and against a file written by the store.
. tests/cli/lib.sh
$python -c 'import h5py, pandas, matplotlib' 2>/dev/null || {
    echo "skipped: $name: no h5py, pandas or matplotlib"
    exit 77
}

# PNG FILE: it has pixels of many colours, so something is drawn.
png() {
    $python - "$1" <<'EOF'
import sys
import matplotlib.image
image = matplotlib.image.imread(sys.argv[1])
colors = {tuple(p) for p in (image[::3, ::3, :3] * 15).astype(int).reshape(-1, 3)}
sys.exit(not (image.shape[0] > 300 and image.shape[1] > 600 and len(colors) > 12))
EOF
}

$python tests/cli/make_run.py "$tmp/one" 30 1
$python tests/cli/make_run.py "$tmp/two" 20 2
$python tests/cli/make_run.py "$tmp/lie" 3 3 --lie

# line N FILE TEXT: the file's line N.
line() {
    [ "$(sed -n "$1p" "$2")" = "$3" ] || die "$2:$1 is '$(sed -n "$1p" "$2")', not '$3'"
    checks=$((checks + 1))
}

# refused PATTERN COMMAND...: fails with one line on standard error.
refused() {
    local pattern=$1
    shift
    if "$@" >"$tmp/out" 2>"$tmp/err"; then die "did not fail: $*"; fi
    [ "$(wc -l <"$tmp/err")" -eq 1 ] || die "not one sentence: $(cat "$tmp/err")"
    grep -qE -- "$pattern" "$tmp/err" || die "no '$pattern' in: $(cat "$tmp/err")"
    checks=$((checks + 1))
}

# Step 1 by hand: trained 5+7 and 0+11, all_wrong 50, cancelled 3, all_correct 4: 80.
ok "$python" analysis/waste.py "$tmp/one"
has '^1 +23 +4 +50 +0 +3 +80 +71\.2%'
line 1 "$tmp/one/waste.csv" "step,trained,all_correct,all_wrong,surplus,cancelled,\
stale,failed,total,wasted,wasted_ratio"
line 2 "$tmp/one/waste.csv" 1,23,4,50,0,3,0,0,80,57,0.7125
[ "$(wc -l <"$tmp/one/waste.csv")" -eq 31 ] || die "waste.csv lacks steps"
ok png "$tmp/one/waste.png"

# A ledger that bills what no row holds is refused by name, and nothing is written.
refused 'step-000003.h5: the ledger bills [0-9]+ tokens to trained, the token rows hold' \
    "$python" analysis/waste.py "$tmp/lie"
[ ! -e "$tmp/lie/waste.csv" ] || die "an unbalanced run was reported"

ok "$python" analysis/curves.py "$tmp/one" "$tmp/two" --out "$tmp/both" --smooth 3
has 'two +reward/accuracy +20 '
has 'one +eval/average_at_n +4 +0\.125' # the one before the first step is the first
[ "$(wc -l <"$tmp/both/curves.csv")" -eq 51 ] || die "curves.csv lacks steps"
grep -q '^one,1,full,0.125,0.3333333333333333,2.5,' "$tmp/both/curves.csv" || die "curves.csv"
ok png "$tmp/both/curves.png"

# What isn't a run, or not complete, is one sentence.
mkdir -p "$tmp/none"
refused 'no step files' "$python" analysis/waste.py "$tmp/none"
head -c 700 "$tmp/one/rollouts/step-000002.h5" >"$tmp/two/rollouts/step-000002.h5"
refused "step-000002.h5: can't be read" "$python" analysis/curves.py "$tmp/two"

# The store's own file: candidate i < 11 of tests/mpi/test_store.c has fate i mod 7 and
# members m < 3 of (7 i + 3 m) mod 6 tokens; number 7 has no members.
program=build/${MODE:-release}/tests/mpi/test_store
make -s MODE="${MODE:-release}" "$program" >/dev/null || die "$program can't be built"
ok env DAPO_TEST_KEEP="$tmp/real" "$program" every_value
ok "$python" analysis/waste.py "$tmp/real"
line 2 "$tmp/real/waste.csv" 3,3,15,15,15,9,12,3,72,69,0.9583333333333334
ok "$python" analysis/curves.py "$tmp/real"
has 'real rollout/effective_fill_ratio +1 +3.33'
passed
