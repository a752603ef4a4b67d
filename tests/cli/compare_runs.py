#!/usr/bin/python3
"""Compare two run directories bit by bit.

compare_runs.py WHAT A B [--steps N]

WHAT, as often as wanted, joined by commas:
  trained    trained candidates, their prompts, tokens, log-probs, rewards, advantages
  tokens     every completion that ended by itself in both runs (invariant 4)
  weights    the newest checkpoint's parameters and moments, the same bits
  near       the newest checkpoint's first moments within 1e-5 of their largest: after one
             update they are a tenth of the gradient (parameters would not do, AdamW
             makes full steps of the rounding of a gradient near zero)
  metrics    every metric but seconds, ticks and memory
  ledger     tokens by fate, recomputed from the rows and as written (invariants 1, 8)
Prints what differs first and exits with 1.
"""
import argparse
import pathlib
import sys

import h5py
import numpy as np


def fail(message):
    sys.exit(f"compare_runs: {message}")


def steps(run):
    return sorted((pathlib.Path(run) / "rollouts").glob("step-*.h5"))


def newest(run):
    return sorted((pathlib.Path(run) / "checkpoints").glob("step-*.h5"))[-1]


def completions(f, select):
    """{(candidate, member): (prompt, fate, tokens, log-prob bits, other columns)}."""
    index, fate = f["candidates/index"][:], f["candidates/fate"][:]
    prompt = dict(zip(index, f["candidates/prompt_id"][:]))
    fates = dict(zip(index, fate))
    offset = f["tokens/completion_offset"][:]
    ids, logp = f["tokens/ids"][:], f["tokens/logprobs"][:].view(np.int32)
    names = ["finish_reason", "correct", "verdict", "shaped_reward", "advantage"]
    names.append("answer_offset")
    columns = [f["completions/" + n][:] for n in names]
    out = {}
    for row, (c, m) in enumerate(
        zip(f["completions/candidate"][:], f["completions/member"][:])
    ):
        a, b = offset[row], offset[row + 1]
        finish = columns[0][row]
        if not select(fates[c], finish):
            continue
        rest = tuple(float(x[row]) for x in columns)
        out[c, m] = (prompt[c], ids[a:b].tobytes(), logp[a:b].tobytes(), rest)
    return out


def check_trained(a, b, where):
    x, y = (completions(f, lambda fate, _: fate == 0) for f in (a, b))
    if x.keys() != y.keys():
        fail(f"{where}: other candidates were trained")
    for key, value in x.items():
        if value != y[key]:
            fail(f"{where}: candidate {key[0]} member {key[1]} differs")
    return len(x)


def check_tokens(a, b, where):
    # 1 stop, 2 length: ended by itself; the advantage depends on the fate: leave it out
    x, y = (completions(f, lambda _, finish: finish in (1, 2)) for f in (a, b))
    common = x.keys() & y.keys()
    for key in common:
        if x[key][:3] != y[key][:3]:
            fail(f"{where}: tokens of candidate {key[0]} member {key[1]} differ")
    return len(common)


def check_metrics(a, b, where):
    def flat(f):
        out = {}
        f["metrics"].visititems(
            lambda n, o: out.__setitem__(n, o[()]) if isinstance(o, h5py.Dataset) else None
        )
        return {n: v for n, v in out.items() if not n.startswith(("time/", "system/"))}

    x, y = flat(a), flat(b)
    if x.keys() != y.keys():
        fail(f"{where}: other metrics")
    for n in x:
        if x[n].tobytes() != y[n].tobytes():
            fail(f"{where}: {n} is {x[n]} and {y[n]}")
    return len(x)


def check_ledger(f, where):
    fate = dict(zip(f["candidates/index"][:], f["candidates/fate"][:]))
    offset = f["tokens/completion_offset"][:]
    sums = np.zeros(len(f["ledger/tokens"]), np.int64)
    for c, n in zip(f["completions/candidate"][:], np.diff(offset)):
        sums[fate[c]] += n
    if not (sums == f["ledger/tokens"][:]).all() or sums.sum() != len(f["tokens/ids"]):
        fail(f"{where}: the ledger is {f['ledger/tokens'][:]}, the rows say {sums}")
    return int(sums.sum())


def check_weights(a, b, exact):
    with h5py.File(newest(a)) as x, h5py.File(newest(b)) as y:
        if x.attrs["step"] != y.attrs["step"]:
            fail("the newest checkpoints are of different steps")
        for name in ["params", "moment1", "moment2"] if exact else ["moment1"]:
            p, q = x[name][:], y[name][:]
            if exact and p.tobytes() != q.tobytes():
                fail(f"checkpoint: {name} differs in {(p != q).sum()} of {p.size} values")
            if not exact and np.abs(p - q).max() > 1e-5 * np.abs(p).max():
                fail(f"checkpoint: {name} differs by {np.abs(p - q).max()}")
        return p.size


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what")
    parser.add_argument("a")
    parser.add_argument("b")
    args = parser.parse_args()
    what = args.what.split(",")
    fa, fb = steps(args.a), steps(args.b)
    if [p.name for p in fa] != [p.name for p in fb] or not fa:
        fail(f"{args.a} has {len(fa)} steps, {args.b} has {len(fb)}")
    counted = dict.fromkeys(what, 0)
    for p, q in zip(fa, fb):
        with h5py.File(p) as a, h5py.File(q) as b:
            for w, check in (
                ("trained", check_trained),
                ("tokens", check_tokens),
                ("metrics", check_metrics),
            ):
                if w in what:
                    counted[w] += check(a, b, p.name)
            if "ledger" in what:
                counted["ledger"] += check_ledger(a, p.name) + check_ledger(b, q.name)
    if "weights" in what:
        counted["weights"] = check_weights(args.a, args.b, True)
    if "near" in what:
        counted["near"] = check_weights(args.a, args.b, False)
    if not all(counted.values()):
        fail(f"nothing was compared: {counted}")
    print(" ".join(f"{k}={v}" for k, v in counted.items()))


main()
