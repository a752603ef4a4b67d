"""The bill of a run as one HTML file: tables, plots as inlined images, no network."""

import base64
import html
import io

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.ticker import FuncFormatter, MaxNLocator, PercentFormatter
import numpy as np

import bill as bills

MOST_BARS = 120
CAUSE_COLORS = {
    "decode of trained": "#2a7f62",
    "decode of degenerate": "#e07a5f",
    "decode of surplus": "#f2cc8f",
    "decode of cancelled": "#b8a9c9",
    "decode of stale and failed": "#8d99ae",
    "decode of what goes on": "#a7c957",
    "idle slots": "#ffb4a2",
    "waiting for the last group": "#e5989b",
    "ticks": "#6d597a",
    "judging": "#3d405b",
    "learner": "#1d3557",
    "delivery": "#457b9d",
    "publish": "#a8dadc",
    "files": "#bc6c25",
    "evaluation": "#606c38",
    "learners without a batch": "#ced4da",
    "replicas without a step": "#adb5bd",
}
MEANING = {
    "tokens": "Every generated token has the fate of its candidate; only trained ones "
    "were of use.",
    "relations": "Effective groups are complete and have right and wrong answers. "
    "Seconds are wall clock from the first candidate to the last file; a rank-second is "
    "one rank for one second.",
    "seconds": "The seconds of all ranks, which add up to ranks times wall clock. A "
    "replica's decode time is split over its slots: busy ones go to the fate of their "
    "tokens, empty ones are idle slots. A replica waits for the last group when it has "
    "nothing to decode until the step has settled, and for ticks when it has, but the "
    "root's decision is not there yet. The last two rows are learners that have no batch "
    "yet and replicas that have no step to generate.",
    "prompts": "Pass rate: right answers among the completions that ended by themselves, "
    "over all visits of a prompt. Prompts that are always or never solved cost their "
    "tokens at every visit and train nothing.",
    "replicas": "Tokens of each replica over the mean of all: where they differ, slots "
    "stood empty.",
}
STYLE = """
body{font:15px/1.5 system-ui,sans-serif;color:#212529;max-width:62rem;margin:2rem auto;
padding:0 1rem}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2.2rem}
img{max-width:100%;height:auto}p{max-width:46rem;color:#495057}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:.9rem}
th,td{padding:.15rem .8rem;text-align:right;border-bottom:1px solid #dee2e6}
th:first-child,td:first-child{text-align:left}
tr.sum td{font-weight:600;border-top:2px solid #868e96}
details{margin-top:.6rem}.scroll{overflow-x:auto}
"""


def image(figure, about):
    """A figure as an <img> that carries its own bytes; closes it."""
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    plt.close(figure)
    text = base64.b64encode(data.getvalue()).decode()
    return f'<img alt="{html.escape(about)}" src="data:image/png;base64,{text}">'


def table(head, rows, last_is_sum=False):
    """An HTML table of texts."""

    def row(cells, tag, kind=""):
        inner = "".join(f"<{tag}>{html.escape(str(c))}</{tag}>" for c in cells)
        return f"<tr{kind}>{inner}</tr>"

    body = [row(r, "td") for r in rows]
    if last_is_sum and rows:
        body[-1] = row(rows[-1], "td", ' class="sum"')
    return (
        '<div class="scroll"><table>' + row(head, "th") + "".join(body) + "</table></div>"
    )


def barred(values, weight=None):
    """Columns of at most MOST_BARS bars: runs of steps put together as means (with
    `weight`, as sums over sums).  Returns the bars and how many steps make one."""
    values = np.asarray(values, float)
    each = -(-len(values) // MOST_BARS)
    first = np.arange(0, len(values), each)
    sums = np.add.reduceat(values, first, axis=0)
    if weight is None:
        n = np.diff(np.append(first, len(values)))
        return sums / n.reshape(-1, *[1] * (values.ndim - 1)), each
    below = np.add.reduceat(np.asarray(weight, float), first)
    return np.divide(sums, below, out=np.zeros_like(sums), where=below > 0), each


def step_axis(axis, steps, each):
    """Label the axis of steps."""
    axis.set_xlabel("step" if each == 1 else f"step (a point is {each} steps)")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_xlim(steps[0] - 0.6 * each, steps[-1] + 0.6 * each)


def plot_seconds(bill):
    """Stacked bars: seconds of all ranks by cause, step by step."""
    steps = list(bill.seconds_of)
    values, each = barred([bill.seconds_of[s] for s in steps])
    figure, axis = plt.subplots(figsize=(11, 4.6), layout="constrained")
    below = np.zeros(len(values))
    for i, name in enumerate(bills.CAUSES):
        part = np.maximum(values[:, i], 0)
        if part.sum() <= 0:
            continue
        axis.bar(
            steps[::each], part, 0.85 * each, bottom=below, color=CAUSE_COLORS[name],
            label=name,
        )
        below += part
    axis.set_ylabel("seconds of all ranks per step")
    step_axis(axis, steps, each)
    handles, labels = axis.get_legend_handles_labels()
    axis.legend(
        handles[::-1], labels[::-1], loc="upper left", bbox_to_anchor=(1.0, 1.0),
        frameon=False, fontsize="small",
    )
    return image(figure, "seconds of all ranks by cause and step")


def plot_relations(bill):
    """The three relations that matter, over the steps."""
    steps = list(bill.steps)
    fates = bill.steps.values()
    trained = [tokens[bill.fates.index("trained")] for tokens in fates]
    lines = [
        ("effective / candidate groups", list(bill.effective_of.values()),
         list(bill.candidates_of.values()), True),
        ("train / rollout tokens", trained, [sum(t) for t in fates], True),
    ]
    if bill.timed:
        lines.append(("effective groups per second", list(bill.effective_of.values()),
                      list(bill.wall_of.values()), False))
    figure, axes = plt.subplots(
        1, len(lines), figsize=(11, 3.0), layout="constrained", squeeze=False
    )
    for axis, (name, above, below, ratio) in zip(axes[0], lines):
        values, each = barred(above, below)
        axis.plot(steps[::each], values, color="#1d3557", marker="o", markersize=3)
        axis.set_title(name, fontsize="medium")
        axis.set_ylim(0, 1.05 if ratio else None)
        if ratio:
            axis.yaxis.set_major_formatter(PercentFormatter(1.0))
        axis.grid(alpha=0.25)
        step_axis(axis, steps, each)
    return image(figure, "the three relations over the steps")


def plot_prompts(bill):
    """Wasted tokens of each prompt against its pass rate, by visits."""
    judged = [p for p in bill.prompts.values() if p.judged]
    rate = np.array([p.correct / p.judged for p in judged])
    wasted = np.array([p.wasted for p in judged], float)
    visits = np.array([p.visits for p in judged])
    figure, axis = plt.subplots(figsize=(11, 4.0), layout="constrained")
    dots = axis.scatter(
        rate, wasted, c=visits, cmap="viridis", s=22, alpha=0.75, linewidths=0
    )
    axis.set_xlabel("pass rate of the prompt")
    axis.xaxis.set_major_formatter(PercentFormatter(1.0))
    axis.set_ylabel("its tokens that were not trained")
    axis.yaxis.set_major_formatter(FuncFormatter(lambda n, _: f"{n:,.0f}"))
    axis.grid(alpha=0.25)
    if len(judged):
        bar = figure.colorbar(dots, label="visits")
        bar.ax.yaxis.set_major_locator(MaxNLocator(integer=True))
    return image(figure, "wasted tokens by pass rate of the prompt")


def plot_replicas(bill):
    """Tokens of each replica over the mean."""
    balance = bill.balance()
    figure, axis = plt.subplots(figsize=(11, 2.6), layout="constrained")
    axis.bar(range(len(balance)), balance, color="#457b9d")
    axis.axhline(1.0, color="black", linewidth=1)
    axis.set_xlabel("replica")
    axis.xaxis.set_major_locator(MaxNLocator(integer=True))
    axis.set_ylabel("tokens over the mean")
    return image(figure, "tokens of each replica over the mean")


def sections(bill, tokens_figure):
    """[(heading, meaning, parts)]."""
    shown = [i for i, f in enumerate(bill.fates) if f == "trained" or bill.sum[i] > 0]
    rows = [
        [step, *(f"{t[i]:,}" for i in shown), f"{sum(t):,}"]
        for step, t in [*bill.steps.items(), ("sum", bill.sum)]
    ]
    head = ["step", *(bill.fates[i].replace("_", " ") for i in shown), "total"]
    yield "Tokens", MEANING["tokens"], [
        image(tokens_figure, "generated tokens by fate and step"),
        table(head, rows[-1:], True),
        "<details><summary>by step</summary>" + table(head, rows, True) + "</details>",
    ]
    relations = [[n, f"{v:.3f}", unit] for n, v, unit in bills.relations(bill)]
    yield "Relations", MEANING["relations"], [
        table(["", "value", ""], relations),
        plot_relations(bill),
    ]
    if bill.timed:
        seconds = [
            [name, f"{x:,.3f}", f"{part:.1f}%", f"{cost:.4f}"]
            for name, x, part, cost in bills.second_rows(bill)
        ]
        yield "Seconds", MEANING["seconds"], [
            plot_seconds(bill),
            table(["cause", "seconds", "share", "per 1000 trained tokens"], seconds, True),
        ]
    rates = [
        [name, n, visits, f"{tokens:,}", f"{lost:,}", f"{part:.1f}%"]
        for name, n, visits, tokens, lost, part in bills.rate_rows(bill)
    ]
    worst = [
        [p.prompt, p.visits, p.trained, f"{bills.per(p.correct, p.judged):.3f}",
         f"{p.tokens:,}", f"{p.wasted:,}"]
        for p in bill.by_waste()[:25]
    ]
    yield "Prompts", MEANING["prompts"], [
        plot_prompts(bill),
        table(["pass rate", "prompts", "visits", "tokens", "wasted", "share of waste"],
              rates),
        "<details open><summary>most wasteful first (row of the prompt file)</summary>"
        + table(["prompt", "visits", "trained", "pass rate", "tokens", "wasted"], worst)
        + "</details>",
    ]
    yield "Replicas", MEANING["replicas"], [plot_replicas(bill)]


def write(bill, tokens_figure, path):
    """The report of a bill into `path`; closes the figure."""
    ranks, learners, replicas = bill.roles
    about = f"{len(bill.steps)} steps"
    if bill.timed:
        about += f", {ranks} ranks: {learners} learn, {replicas} generate"
    parts = [
        f"<section><h2>{html.escape(name)}</h2><p>{html.escape(meaning)}</p>"
        + "".join(inner)
        + "</section>"
        for name, meaning, inner in sections(bill, tokens_figure)
    ]
    title = html.escape(f"Where tokens and seconds went: {bill.name}")
    with open(path, "w", encoding="utf-8") as out:
        out.write(
            '<!doctype html><html lang="en"><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width">'
            f"<title>{title}</title><style>{STYLE}</style>"
            f"<h1>{title}</h1><p>{html.escape(about)}.</p>" + "\n".join(parts) + "</html>\n"
        )
