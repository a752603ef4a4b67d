#!/usr/bin/python3
"""Where the generated tokens and the seconds of a run went.

Every generated token belongs to a candidate, and every candidate has one fate: trained,
or one of the ways to be wasted.  The tokens are counted here from the token rows of the
step files and must equal the trainer's own ledger exactly; otherwise this fails.

Prints the bill, as `dapo inspect RUN --waste` does; writes waste.csv, waste.png and
waste.html, a report that opens without a network, into the run directory or --out.
"""

import argparse
import os

import matplotlib

matplotlib.use("Agg")
from matplotlib.patheffects import withStroke
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
import pandas as pd

import bill as bills
import report

COLORS = {
    "trained": "#2a7f62",
    "all_correct": "#8ecae6",
    "all_wrong": "#e07a5f",
    "surplus": "#f2cc8f",
    "cancelled": "#b8a9c9",
    "stale": "#8d99ae",
    "failed": "#3d405b",
}


def waste(bill):
    """One row per step: tokens by fate, their sum, and the part that was not trained."""
    table = pd.DataFrame.from_dict(bill.steps, orient="index", columns=bill.fates)
    table = table.rename_axis("step")
    table["total"] = table[bill.fates].sum(axis=1)
    table["wasted"] = table["total"] - table["trained"]
    table["wasted_ratio"] = (table["wasted"] / table["total"]).fillna(0.0)
    return table


def bar_groups(table, most=120):
    """Steps put together so that at most `most` bars are drawn: means, and the ratio of
    the sums.  Also how many steps make a bar."""
    each = -(-len(table) // most)
    number = pd.Series(range(len(table)), index=table.index) // each
    bars = table.groupby(number.to_numpy()).mean()
    bars.index = table.index.to_series().groupby(number.to_numpy()).first()
    bars["wasted_ratio"] = (bars["wasted"] / bars["total"]).fillna(0.0)
    return bars, each


def plot(table, fates, title):
    """Stacked bars of tokens per step, and the wasted share as a line; the figure."""
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
    return figure


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("run", help="run directory")
    parser.add_argument("--out", help="where to write waste.csv, waste.png, waste.html")
    parser.add_argument("--html", help="another place for waste.html")
    args = parser.parse_args()
    out = args.out or args.run
    page = args.html or os.path.join(out, "waste.html")
    os.makedirs(out, exist_ok=True)
    bill = bills.read(args.run)
    print("\n".join(bills.lines(bill)))
    table = waste(bill)
    table.to_csv(os.path.join(out, "waste.csv"))
    figure = plot(table, bill.fates, f"Where the generated tokens went: {bill.name}")
    figure.savefig(os.path.join(out, "waste.png"), dpi=120)
    report.write(bill, figure, page)
    print(f"wrote {os.path.join(out, 'waste.csv')}, waste.png and {page}")


if __name__ == "__main__":
    main()
