#!/usr/bin/python3
"""Where the generated tokens of a run went, step by step.

Every generated token belongs to a candidate, and every candidate has one fate: trained,
or one of the ways to be wasted.  The tokens are counted here from the token rows of the
step files and must equal the trainer's own ledger exactly; otherwise this fails.

Prints a table; writes waste.csv and waste.png into the run directory or --out.
"""

import argparse
import os
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib.patheffects import withStroke
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
import pandas as pd

import runs

COLORS = {
    "trained": "#2a7f62",
    "all_correct": "#8ecae6",
    "all_wrong": "#e07a5f",
    "surplus": "#f2cc8f",
    "cancelled": "#b8a9c9",
    "stale": "#8d99ae",
    "failed": "#3d405b",
}


def step_row(file):
    """Tokens by fate of one step, from the rows; fails if the ledger says otherwise."""
    billed = runs.ledger(file)["tokens"]
    counted = runs.tokens_by_fate(file).reindex(billed.index, fill_value=0)
    wrong = billed[billed != counted]
    if len(wrong):
        fate = wrong.index[0]
        sys.exit(
            f"{file.filename}: the ledger bills {billed[fate]} tokens to {fate}, "
            f"the token rows hold {counted[fate]}"
        )
    return counted.astype("int64")


def waste(run):
    """One row per step: tokens by fate, their sum, and the part that was not trained."""
    rows = {}
    for step, path in runs.step_files(run):
        with runs.open_step(path) as file:
            rows[step] = step_row(file)
    table = pd.DataFrame(rows).T.rename_axis("step")
    fates = list(table.columns)
    table["total"] = table[fates].sum(axis=1)
    table["wasted"] = table["total"] - table["trained"]
    table["wasted_ratio"] = (table["wasted"] / table["total"]).fillna(0.0)
    return table, fates


def bar_groups(table, most=120):
    """Steps put together so that at most `most` bars are drawn: means, and the ratio of
    the sums.  Also how many steps make a bar."""
    each = -(-len(table) // most)
    number = pd.Series(range(len(table)), index=table.index) // each
    bars = table.groupby(number.to_numpy()).mean()
    bars.index = table.index.to_series().groupby(number.to_numpy()).first()
    bars["wasted_ratio"] = (bars["wasted"] / bars["total"]).fillna(0.0)
    return bars, each


def plot(table, fates, title, path):
    """Stacked bars of tokens per step, and the wasted share as a line."""
    table, each = bar_groups(table)
    figure, axis = plt.subplots(figsize=(11, 5), layout="constrained")
    below = pd.Series(0.0, index=table.index)
    width = 0.85 * each
    for fate in fates:
        if table[fate].sum() == 0:
            continue
        axis.bar(
            table.index,
            table[fate],
            width,
            bottom=below,
            color=COLORS.get(fate, "#999999"),
            label=fate.replace("_", " "),
        )
        below = below + table[fate]
    axis.set_xlabel("step" if each == 1 else f"step (a bar is the mean of {each})")
    axis.set_ylabel("generated tokens per step")
    axis.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlim(table.index[0] - 0.6 * each, table.index[-1] + 0.6 * each)
    axis.set_ylim(0, max(1.0, 1.05 * table["total"].max()))
    share = axis.twinx()
    share.plot(
        table.index,
        table["wasted_ratio"],
        color="black",
        linewidth=1.5,
        marker="o" if len(table) <= 40 else None,
        markersize=4,
        label="wasted share (right axis)",
        path_effects=[withStroke(linewidth=3.5, foreground="white")],
    )
    share.set_ylim(0, 1.05)
    share.set_ylabel("wasted share of the step's tokens")
    share.yaxis.set_major_formatter(PercentFormatter(1.0))
    share.grid(axis="y", alpha=0.25)
    handles, labels = axis.get_legend_handles_labels()
    more, more_labels = share.get_legend_handles_labels()
    axis.legend(
        handles[::-1] + more,  # as they are stacked
        labels[::-1] + more_labels,
        loc="upper left",
        bbox_to_anchor=(1.12, 1.0),
        frameon=False,
    )
    axis.set_title(title)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def print_table(table, fates):
    """The table for people: fates that occur, all steps, and their sum."""
    shown = [fate for fate in fates if table[fate].sum() or fate == "trained"]
    out = table[shown + ["total", "wasted_ratio"]].copy()
    out["wasted_ratio"] = out["wasted_ratio"].map("{:.1%}".format)
    total = table[shown + ["total"]].sum()
    share = table["wasted"].sum() / max(1, table["total"].sum())
    out.loc["sum"] = [*total, f"{share:.1%}"]
    print(out.to_string())
    print("every step's ledger equals its token rows")


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("run", help="run directory")
    parser.add_argument("--out", help="where to write waste.csv and waste.png")
    args = parser.parse_args()
    out = args.out or args.run
    os.makedirs(out, exist_ok=True)
    table, fates = waste(args.run)
    print_table(table, fates)
    table.to_csv(os.path.join(out, "waste.csv"))
    title = f"Where the generated tokens went: {runs.name_of(args.run)}"
    plot(table, fates, title, os.path.join(out, "waste.png"))
    print(f"wrote {os.path.join(out, 'waste.csv')} and waste.png")


if __name__ == "__main__":
    main()
