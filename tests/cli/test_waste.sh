#!/usr/bin/env bash
# test_waste.sh - dapo inspect RUN --waste prints what analysis/waste.py does, to the
# letter, for runs of every kind; what they print of a made one is in test_analysis.sh.
. tests/cli/lib.sh
$python -c 'import h5py, pandas, matplotlib' 2>/dev/null || {
    echo "skipped: $name: no h5py, pandas or matplotlib"
    exit 77
}
coin_job "$tmp/c"
program=$(realpath "$dapo")
runs=$tmp/c/runs

run() { # run NAME RANKS [--set ...]
    ok on "$2" --wdir "$tmp/c/in" "$program" train "$tmp/c/job.ini" --set run.name="$1" \
        --set run.steps=6 "${@:3}"
}
alike() { # alike NAME: both reports, the second's last line (what it wrote) apart
    ok "$dapo" inspect "$runs/$1" --waste
    mv "$tmp/out" "$tmp/bill"
    ok "$python" analysis/waste.py "$runs/$1/" --out "$tmp/w"
    head -n -1 "$tmp/out" >"$tmp/bill.py"
    diff "$tmp/bill" "$tmp/bill.py" >&2 || die "$1: the two bills differ"
    cp "$tmp/bill" "$tmp/out"
}

run alone 1
alike alone
has '^run alone: 6 steps, 1 ranks: 1 learn, 1 generate$'
has '^learners without a batch +0\.000 '
run three 3 --set admission.speculation=0
alike three
has ' surplus '
run ahead 4 --set train.max_staleness=1 --set ranks.learners=2
alike ahead
has '^run ahead: 6 steps, 4 ranks: 2 learn, 2 generate$'
run carried 3 --set admission.surplus=resume --set admission.speculation=0
alike carried
run grpo 2 --set loss.preset=grpo --set eval.every=1
alike grpo

echo "the causes are what the metrics say, and add up to ranks times wall clock"
for each in alone three ahead carried grpo; do
    "$dapo" inspect "$runs/$each" --waste >"$tmp/bill"
    "$python" - "$runs/$each" "$tmp/bill" <<'END' || die "$each: the seconds don't add up"
import glob, sys, h5py
rows = {}
for line in open(sys.argv[2]).read().split("seconds of all ranks", 1)[1].splitlines()[1:]:
    if not line:
        break
    rows[line[:28].strip()] = float(line[28:].split()[0])
total = rows.pop("ranks x wall clock")
assert len(rows) == 17 and abs(sum(rows.values()) - total) < 0.02, (rows, total)
sums = {}
wall = 0
for name in glob.glob(sys.argv[1] + "/rollouts/*.h5"):
    with h5py.File(name) as f:
        m = {x: f["metrics/" + x][()] for x in ("job/ranks", "job/learners")}
        m |= {x: f["metrics/time/" + x + "_seconds"][()] for x in
              "decode judge wait_tick wait_group idle_slot learn step eval files".split()}
    for x, v in m.items():
        sums[x] = sums.get(x, 0) + v
    wall += m["job/ranks"] * (m["step"] + m["eval"] + m["files"])
decode = sum(v for k, v in rows.items() if k.startswith("decode of ")) + rows["idle slots"]
for got, want in ((decode, sums["decode"]), (rows["judging"], sums["judge"]),
                  (rows["ticks"], sums["wait_tick"]), (total, wall),
                  (rows["waiting for the last group"], sums["wait_group"]),
                  (rows["learner"], m["job/learners"] * sums["learn"])):
    assert abs(got - want) < 0.01, (got, want)
assert rows["decode of trained"] > 0 and min(rows.values()) > -0.005, rows
assert (rows["evaluation"] > 0) == ("eval" in m and sums["eval"] > 0)
END
    checks=$((checks + 1))
done

echo "what is no run, or doesn't balance, is one sentence"
fails 74 'none: can.t be opened' "$dapo" inspect "$tmp/none" --waste
mkdir -p "$tmp/bare/rollouts" "$tmp/bare/checkpoints"
fails 65 'no step files' "$dapo" inspect "$tmp/bare" --waste
"$python" - "$runs/three/rollouts/step-000002.h5" <<'END'
import sys, h5py
with h5py.File(sys.argv[1], "r+") as f:
    f["ledger/tokens"][0] += 1
END
fails 65 'step-000002.h5: the ledger bills [0-9]+ tokens to trained' \
    "$dapo" inspect "$runs/three" --waste
passed
