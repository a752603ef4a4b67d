#!/usr/bin/python3
"""What `dapo simulate` or `dapo replay` wrote with --csv, as one page of plots.

Step seconds over the bound (replay: over the run's own), tokens by fate, length bias with
its standard error, and the most rounds of a step: a bar for each row of the table, named by
the settings that were swept.  Writes FILE.png, or --out.
"""

import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator, PercentFormatter
import pandas as pd

# The columns that every table has: what stands before them was swept.
FIRST = "step_seconds"
FATES = [
    ("trained", "trained", "#2a7f62"),
    ("no_signal", "no signal (all right or all wrong)", "#e07a5f"),
    ("surplus", "surplus", "#f2cc8f"),
    ("cancelled", "cancelled", "#b8a9c9"),
    ("stale", "stale", "#8d99ae"),
]
MOST_ROWS = 60


def read(path, where):
    """The table, its rows named by what was swept, those of `where` only."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, pd.errors.ParserError, pd.errors.EmptyDataError) as why:
        sys.exit(f"{path}: can't be read: {why}")
    if FIRST not in table or len(table) == 0:
        sys.exit(f"{path}: is no table of dapo simulate or dapo replay")
    keys = list(table.columns[: table.columns.get_loc(FIRST)])
    for item in where:
        key, _, value = item.partition("=")
        if key not in keys:
            sys.exit(f"--where {item}: want one of {', '.join(keys)}")
        table = table[table[key] == value]
    if len(table) == 0 or len(table) > MOST_ROWS:
        sys.exit(f"{path}: {len(table)} rows to draw, want 1 to {MOST_ROWS}; use --where")
    named = table[keys].nunique() > 1
    shown = [key for key in keys if named[key]] or keys
    names = table[shown].agg(lambda row: " ".join(x for x in row if x), axis=1)
    values = table.drop(columns=keys).apply(pd.to_numeric, errors="coerce")
    values.index = names if shown else ["the job"] * len(table)
    return values, ", ".join(key.split(".")[-1] for key in shown)


def draw_times(axis, table):
    """How much longer than what no policy can beat."""
    y = range(len(table))
    axis.barh(y, table["over_blind"], color="#4c78a8")
    for at, (over, seconds) in enumerate(zip(table["over_blind"], table[FIRST])):
        text = f" {seconds:.4g} s" if seconds > 0 else " trains nothing"
        axis.text(over if over > 0 else 0, at, text, va="center", fontsize="small")
    axis.axvline(1, color="black", linewidth=1)
    axis.set_xlim(0, 1.2 * max(1, table["over_blind"].max()))
    axis.set_title("Step seconds over the bound")
    axis.set_xlabel("x the least time without foreseeing verdicts")


def draw_fates(axis, table):
    """Shares of the generated tokens."""
    left = pd.Series(0.0, index=range(len(table)))
    for column, label, color in FATES:
        share = table[column].reset_index(drop=True) / 100
        if share.sum() > 0:
            axis.barh(range(len(table)), share, left=left, color=color, label=label)
        left = left + share
    axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    axis.set_xlim(0, 1)
    axis.set_title("Tokens by fate")
    axis.legend(loc="upper center", bbox_to_anchor=(0.5, -0.08), ncols=2, frameon=False)


def draw_bias(axis, table):
    """Trained groups' length against all trainable ones', two standard errors each way."""
    axis.set_title("Length of trained completions")
    axis.set_xlabel("% beside all trainable groups', with two standard errors")
    axis.axvline(0, color="black", linewidth=1)
    if "length_bias" not in table:
        axis.text(0.5, 0.5, "not known of a recorded run", transform=axis.transAxes, ha="center")
        return
    axis.errorbar(
        table["length_bias"],
        range(len(table)),
        xerr=2 * table["length_error"],
        fmt="o",
        color="#54a24b",
        capsize=3,
    )


def draw_rounds(axis, table):
    """How often a step had to begin anew with nothing under way."""
    axis.barh(range(len(table)), table["worst_rounds"].fillna(0), color="#b279a2")
    axis.set_title("Rounds of the worst step")
    axis.set_xlabel("times it started candidates with none under way")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def plot(table, swept, path):
    """Four panels with one row of bars per policy."""
    height = 2.5 + 0.3 * len(table)
    figure, axes = plt.subplots(
        1, 4, figsize=(18, max(4, height)), layout="constrained", sharey=True
    )
    for axis, draw in zip(axes, (draw_times, draw_fates, draw_bias, draw_rounds)):
        draw(axis, table)
        axis.grid(axis="x", alpha=0.25)
    axes[0].set_yticks(range(len(table)), table.index)
    axes[0].set_ylim(len(table) - 0.4, -0.6)
    axes[0].set_ylabel(swept)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("csv", help="what --csv wrote")
    parser.add_argument("--out", help="where to write the page (default FILE.png)")
    parser.add_argument(
        "--where", action="append", default=[], help="KEY=VALUE: only these rows"
    )
    args = parser.parse_args()
    table, swept = read(args.csv, args.where)
    out = args.out or os.path.splitext(args.csv)[0] + ".png"
    plot(table, swept, out)
    print(f"wrote {out}")


if __name__ == "__main__":
    main()
