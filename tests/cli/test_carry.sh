#!/usr/bin/env bash
# test_carry.sh - admission.surplus = resume: groups that go on in the next step, whole
# jobs.  Resuming equals not stopping (invariant 6), the bill balances over the steps
# (invariant 1), every token says which policy drew it.
. tests/cli/lib.sh
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
runs=$tmp/c/runs
cd "$tmp/c/in"

# job NAME STEPS: the command of a run, in $command.
job() {
    command=("$dapo" train "$tmp/c/job.ini" --set run.name="$1" --set run.steps="$2"
        --set run.keep=0 --set data.eval= --set admission.surplus=resume
        --set admission.max_age=2 --set rollout.slice=1 --set rollout.slots=10)
}
# run NAME RANKS STEPS [--set ...]
run() {
    local ranks=$2
    job "$1" "$3"
    shift 3
    ok on "$ranks" "${command[@]}" "$@"
}

run calm 4 6
run again 4 6
compare trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/again"

echo "invariant 6: resumed on as many replicas all bits are the same"
run halves 4 2
run halves 4 4
run halves 4 6
compare trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/halves"
run alone 1 5
run alone_halves 1 3
run alone_halves 1 5
compare trained,tokens,ledger,weights,metrics "$runs/alone" "$runs/alone_halves"

echo "on another number of replicas the step that the carried groups are decided in is"
run three 4 3
run two 4 2
for ranks in 1 6; do
    cp -r "$runs/two" "$runs/moved$ranks"
    run "moved$ranks" $ranks 3
    compare trained,tokens,ledger,weights "$runs/three" "$runs/moved$ranks"
done

echo "a stop on request in the middle of a step"
job asked 6
on 4 "${command[@]}" --set run.save_every=0 >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_file "$runs/asked/rollouts/step-000002.h5" $pid
# shellcheck disable=SC2046 # one process each
kill -USR1 $(pgrep -f "^$dapo train $tmp/c/job.ini --set run.name=asked") 2>/dev/null || true
rc=0
wait "$pid" || rc=$?
[ "$rc" -eq 75 ] || die "exit status $rc, not 75: $(cat "$tmp/err")"
run asked 4 6
compare trained,tokens,ledger,weights,metrics "$runs/calm" "$runs/asked"

echo "the bill over the steps, and the policy of each token"
"$python" - "$runs" <<'END' || die "the bill of carried groups does not balance"
import glob, sys, h5py, numpy as np
spans = stale = 0
for run in sorted(glob.glob(sys.argv[1] + "/*")):
    out = 0.0
    for number, name in enumerate(sorted(glob.glob(run + "/rollouts/*.h5")), 1):
        with h5py.File(name) as f:
            m = lambda n: f["metrics/rollout/" + n][()]
            assert m("carried_in_tokens") == out, name
            out = m("carried_out_tokens")
            tokens = len(f["tokens/ids"])
            assert m("completion_tokens") == tokens == f["ledger/tokens"][:].sum(), name
            assert m("drawn_tokens") + m("carried_in_tokens") == tokens + out, name
            assert (out > 0) <= (m("carried_groups") > 0), name
            at = f["tokens/completion_offset"][:]
            carried, version = f["completions/n_carried"][:], f["tokens/policy_version"][:]
            born = dict(zip(f["candidates/index"][:], f["candidates/born_step"][:]))
            now = f.attrs["policy_version"]
            for row, c in enumerate(f["completions/candidate"][:]):
                v = version[at[row] : at[row + 1]]
                assert (v[carried[row] :] == now).all() and (v <= now).all(), name
                assert (np.diff(v) >= 0).all(), name
                assert number - 2 <= born[c] <= number or f["candidates/fate"][c] == 5, name
                spans += len(set(v)) > 1
            stale += (f["candidates/fate"][:] == 5).sum()
            keys = set(zip(f["candidates/born_step"][:], f["candidates/born_index"][:]))
            assert len(keys) == len(born), name
print(f"{spans} completions span policies, {stale} candidates were stale")
assert spans > 10, spans
END
checks=$((checks + 1))

ok "$python" "$root/analysis/waste.py" "$runs/calm" --out "$tmp/waste"
ok "$dapo" inspect "$runs/calm" --waste

echo "a group that has waited longer than max_age is billed as stale"
run old 4 6 --set admission.max_age=1 --set admission.speculation=0 --set rollout.slots=40
"$python" - "$runs/old" <<'END' || die "no group was stale"
import glob, sys, h5py
fates = [f for n in glob.glob(sys.argv[1] + "/rollouts/*.h5") for f in h5py.File(n)["candidates/fate"][:]]
assert fates.count(5) > 0, fates
END
checks=$((checks + 1))
refused 78 'admission.surplus|max_staleness' on 4 "${command[@]}" --set train.max_staleness=1 \
    --set run.log=error
passed
