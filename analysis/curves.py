#!/usr/bin/python3
"""Training curves of one or several runs, side by side.

Reward, accuracy, completion length, entropy, clip fractions, effective fill and gradient
norm by step, from the metrics in the step files.  Prints each run's first and last
values; writes curves.csv (all metrics, a row per run and step) and curves.png into the
first run's directory or --out.
"""

import argparse
import os

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import MaxNLocator
import pandas as pd

import runs

# (title, unit, [(metric, label in the legend or None, line style)])
PANELS = [
    ("Reward of all candidates", "shaped reward", [("reward/shaped_mean", None, "-")]),
    (
        "Accuracy",
        "share of completions",
        [("reward/accuracy", "sampled", "-"), ("eval/average_at_n", "held out", "o")],
    ),
    (
        "Completion length",
        "tokens, mean",
        [("rollout/mean_completion_tokens", None, "-")],
    ),
    ("Entropy of the policy", "nats per token", [("ppo/entropy", None, "-")]),
    (
        "Clipped tokens",
        "share of trained tokens",
        [
            ("ppo/upper_clip_fraction", "upper", "-"),
            ("ppo/lower_clip_fraction", "lower", ":"),
        ],
    ),
    (
        "Effective fill",
        "trained / wanted groups",
        [("rollout/effective_fill_ratio", None, "-")],
    ),
    ("Gradient norm", "before clipping", [("train/grad_norm", None, "-")]),
    ("Step time", "seconds", [("time/step_seconds", None, "-")]),
]


def series(frame, metric):
    """The values by step; held-out ones start with those before the first step."""
    values = frame[metric].dropna() if metric in frame else pd.Series(dtype=float)
    before = metric.replace("eval/", "eval/initial_")
    if before != metric and before in frame:
        first = frame[before].dropna()
        first.index = first.index - 1
        values = pd.concat([values, first[~first.index.isin(values.index)]])
    return values.sort_index()


def draw(axis, panel, frames, smooth):
    """One panel: a colour per run, a line style per metric."""
    title, unit, lines = panel
    drawn = False
    for number, (_, frame) in enumerate(frames):
        for metric, _, style in lines:
            values = series(frame, metric)
            if values.empty:
                continue
            color = f"C{number % 10}"
            drawn = True
            if style == "o":
                axis.plot(values.index, values, "o--", color=color, markersize=4)
                continue
            if smooth > 1 and len(values) > 2 * smooth:
                axis.plot(values.index, values, style, color=color, alpha=0.25)
                values = values.rolling(smooth, min_periods=1).mean()
            axis.plot(values.index, values, style, color=color)
    styles = [(label, style) for _, label, style in lines if label]
    for label, style in styles if drawn else []:
        axis.plot([], [], "o--" if style == "o" else style, color="gray", label=label)
    if styles and drawn:
        axis.legend(fontsize="small", framealpha=0.6)
    if not drawn:
        axis.text(0.5, 0.5, "not recorded", transform=axis.transAxes, ha="center")
    axis.set_title(title)
    axis.set_ylabel(unit)
    axis.set_xlabel("step")
    axis.grid(alpha=0.25)
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))


def plot(frames, smooth, path):
    """All panels on one page, and the names of the runs in the last cell."""
    figure, axes = plt.subplots(3, 3, figsize=(14, 11), layout="constrained")
    for axis, panel in zip(axes.flat, PANELS):
        draw(axis, panel, frames, smooth)
    handles = [
        plt.Line2D([], [], color=f"C{number % 10}", label=name)
        for number, (name, _) in enumerate(frames)
    ]
    axes.flat[-1].axis("off")
    axes.flat[-1].legend(handles=handles, loc="center", title="run", frameon=False)
    note = f" (means over {smooth} steps; faint: each step)" if smooth > 1 else ""
    figure.suptitle("Training curves" + note)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def names_of(paths):
    """What to call the runs: the last part of their paths, or all of it if that isn't
    enough to tell them apart."""
    short = [runs.name_of(path) for path in paths]
    return short if len(set(short)) == len(short) else paths


def summary(frames):
    """First and last value of every drawn metric, a row per run and metric."""
    rows = []
    for name, frame in frames:
        for metric in [line[0] for panel in PANELS for line in panel[2]]:
            values = series(frame, metric)
            if len(values):
                rows.append((name, metric, len(values), values.iloc[0], values.iloc[-1]))
    return pd.DataFrame(rows, columns=["run", "metric", "steps", "first", "last"])


def main():
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("run", nargs="+", help="run directories")
    parser.add_argument("--out", help="where to write curves.csv and curves.png")
    parser.add_argument(
        "--smooth", type=int, default=1, help="draw means over this many steps"
    )
    args = parser.parse_args()
    out = args.out or args.run[0]
    os.makedirs(out, exist_ok=True)
    frames = [
        (name, runs.metrics(path)) for name, path in zip(names_of(args.run), args.run)
    ]
    print(summary(frames).to_string(index=False))
    table = pd.concat(dict(frames), names=["run"])
    table.to_csv(os.path.join(out, "curves.csv"))
    plot(frames, args.smooth, os.path.join(out, "curves.png"))
    print(f"wrote {os.path.join(out, 'curves.csv')} and curves.png")


if __name__ == "__main__":
    main()
