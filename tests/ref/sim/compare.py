#!/usr/bin/python3
"""compare.py TABLE... [--only REGEX] [--steps N] - dapo simulate against tables of dynsim.py.

dynsim.py beside this file is a simulation of the same policies written independently, in
Python; b4.txt and b512.txt are its output for many machines (300 steps of 4 groups, 10
steps of 512).  Every figure of every policy that dapo has must agree within three standard
errors of the two, which for dynsim's were measured as the spread over six seeds; a share of
1% may lie beyond that, none beyond four.  Left out: spec% of resume in tables of few steps,
where dynsim bills as waste what is under way when its last step ends.  --only takes the
tables whose head line matches, --policies the policies.  DAPO names the program.
"""

import argparse
import csv
import os
import re
import subprocess
import sys
import tempfile

# Standard errors of one dynsim table by B: relative of times; points of the shares.
ERRORS = {
    4: {"x": 0.016, "inv%": 1.4, "spec%": 1.3, "trunc%": 0.4, "stale%": 1.8},
    512: {"x": 0.010, "inv%": 0.6, "spec%": 0.4, "trunc%": 0.2, "stale%": 0.8},
}
# dynsim's column -> (kind of error, unit of the last printed digit, value from our CSV)
COLUMNS = {
    "x_orc": ("x", 0.01, lambda r: r["over_oracle"]),
    "x_inv": ("x", 0.01, lambda r: r["over_blind"]),
    "x_rate": ("x", 0.01, lambda r: r["over_overlap"]),
    "inv%": ("inv%", 0.1, lambda r: r["no_signal"]),
    "spec%": ("spec%", 0.1, lambda r: r["surplus"] + r["cancelled"] + r["stale"]),
    "len%": ("se", 0.1, lambda r: r["length_bias"]),
    "trunc%": ("trunc%", 0.1, lambda r: r["truncated"]),
    "stale%": ("stale%", 0.1, lambda r: r["stale_groups"]),
}


def settings(policy, number):
    """The job's settings for a policy of dynsim; None for carry, which dapo has not."""
    stream = ["admission.strict=true", "admission.speculation=" + number]
    return {
        "wave": ["admission.refill=waves", "admission.max_multiplier=" + number],
        "full": [
            "admission.refill=full",
            "admission.full_multiplier=" + number,
            "admission.strict=true",
        ],
        "stream": stream,
        "stream-co": stream + ["admission.order=completion"],
        "resume": stream + ["admission.surplus=resume"],
    }.get(policy)


def tables(path):
    """[(head line, {B, G, S, h, ...}, column names, [(policy, number, values)])]"""
    out = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            word = line.split()
            if line.startswith("#"):
                head = dict(re.findall(r"(\S+)=([0-9.]+)", line))
                out.append((line.strip(), head, [], []))
            elif word and word[0] == "policy":
                out[-1][2].extend(word[1:])
            elif word:
                name = re.fullmatch(r"(\S+)\((\S+)\)", word[0])
                out[-1][3].append((name[1], name[2], [float(x) for x in word[1:]]))
    return out


def simulate(head, policy, number, steps):
    """Our figures: the one row of the CSV."""
    job = settings(policy, number) + [
        "admission.groups=" + head["B"],
        "admission.group_size=" + head["G"],
        "rollout.slots=" + head["S"],
        "rollout.max_tokens=" + head["T"],
        "reward.overlong=off",
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "job.ini")
        with open(path, "w", encoding="utf-8"):
            pass
        table = os.path.join(folder, "out.csv")
        command = [os.environ.get("DAPO", "bin/dapo"), "simulate", path, "--ideal"]
        command += ["--half", head["h"], "--trainable", head["P(valid)"], "--median", "256"]
        command += ["--steps", str(steps), "--csv", table]
        for item in job:
            command += ["--set", item]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        with open(table, encoding="utf-8", newline="") as rows:
            row = next(csv.DictReader(rows))
    return {name: float(value) for name, value in row.items()}


def deviations(head, names, values, ours, share):
    """[(column, theirs, ours, |difference| in standard errors)]; `share`: their steps over
    ours, which makes our own errors smaller."""
    theirs = dict(zip(names, values))
    errors = dict(ERRORS[int(head["B"])], se=theirs["se"])
    out = []
    for name, (kind, digit, value) in COLUMNS.items():
        mine = value(ours)
        error = errors[kind] * (theirs[name] if kind == "x" else 1) * (1 + share) ** 0.5
        beyond = max(0.0, abs(mine - theirs[name]) - digit / 2)
        out.append((name, theirs[name], mine, beyond / error))
    return out


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("table", nargs="+")
    parser.add_argument("--only", default="")
    parser.add_argument("--policies", default="")
    parser.add_argument("--steps", type=int, help="of ours (default: four times theirs)")
    args = parser.parse_args()
    seen, bad = [], []
    for path in args.table:
        for line, head, names, rows in tables(path):
            if not re.search(args.only, line):
                continue
            steps = args.steps or 4 * int(head["steps"])
            for policy, number, values in rows:
                name = f"{policy}({number})"
                if not settings(policy, number) or not re.search(args.policies, name):
                    continue
                ours = simulate(head, policy, number, steps)
                share = int(head["steps"]) / steps
                for column, a, b, z in deviations(head, names, values, ours, share):
                    if policy == "resume" and column == "spec%" and head["B"] != "4":
                        continue
                    seen.append(z)
                    if z > 3:
                        where = line.split(" T=", maxsplit=1)[0][2:]
                        bad.append(f"{where} {name} {column}: {a:g}, not {b:.3g} ({z:.1f} se)")
    print("\n".join(bad))
    mean = sum(z * z for z in seen) / max(1, len(seen))
    print(f"{len(seen)} figures, {len(bad)} beyond 3 standard errors, rms {mean ** 0.5:.2f}")
    sys.exit(not seen or len(bad) > len(seen) / 100 or max(seen) > 4)


if __name__ == "__main__":
    main()
