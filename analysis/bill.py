"""What a run's tokens and seconds went into, from its step files alone.

`dapo inspect RUN --waste` computes and prints the same, to the letter
(src/cmd/bill.c, show_waste.c): change both.  Sums of seconds are made one by one, in the
same order, for the same last digit.
"""

import sys
from dataclasses import dataclass, field

import numpy as np

import runs

CAUSES = [
    "decode of trained",
    "decode of degenerate",
    "decode of surplus",
    "decode of cancelled",
    "decode of stale and failed",
    "decode of what goes on",
    "idle slots",
    "waiting for the last group",
    "ticks",
    "judging",
    "learner",
    "delivery",
    "publish",
    "files",
    "evaluation",
    "learners without a batch",
    "replicas without a step",
]
RATES = ["0", "to 1/4", "to 1/2", "to 3/4", "under 1", "1", "not judged"]
MOST_PROMPTS = 10


@dataclass
class Prompt:
    """All visits of one prompt."""

    prompt: int
    visits: int = 0
    trained: int = 0  # visits that were trained
    judged: int = 0  # completions that ended by themselves
    correct: int = 0  # of these
    tokens: int = 0
    wasted: int = 0  # not trained

    def rate(self):
        """The number of its class in RATES."""
        if self.judged == 0:
            return 6
        if self.correct == 0:
            return 0
        if self.correct == self.judged:
            return 5
        return 1 + 4 * self.correct // self.judged


@dataclass
class Bill:  # pylint: disable=too-many-instance-attributes
    """The bill of a run."""

    name: str
    fates: list = field(default_factory=list)
    steps: dict = field(default_factory=dict)  # step: [tokens by fate]
    sum: list = field(default_factory=list)
    candidates_of: dict = field(default_factory=dict)  # by step
    # by step: complete groups with right and wrong answers
    effective_of: dict = field(default_factory=dict)
    replicas: dict = field(default_factory=dict)  # replica: tokens
    prompts: dict = field(default_factory=dict)
    timed: bool = True  # every step has the metrics that seconds need
    seconds: list = field(default_factory=lambda: [0.0] * len(CAUSES))
    seconds_of: dict = field(default_factory=dict)  # by step
    rank_seconds: float = 0.0
    wall: float = 0.0
    wall_of: dict = field(default_factory=dict)
    decode_max: float = 0.0
    decode_mean: float = 0.0
    roles: tuple = (0, 0, 0)  # ranks, learners, replicas of the last step

    @property
    def total(self):
        """Generated tokens."""
        return sum(self.sum)

    @property
    def candidates(self):
        """Candidate groups of all steps."""
        return sum(self.candidates_of.values())

    @property
    def effective(self):
        """Effective groups of all steps."""
        return sum(self.effective_of.values())

    @property
    def trained(self):
        """Trained tokens."""
        return self.sum[self.fates.index("trained")]

    def by_waste(self):
        """Prompts, the most wasteful first."""
        return sorted(self.prompts.values(), key=lambda p: (-p.wasted, p.prompt))

    def balance(self):
        """Tokens of every replica over their mean, in order of the replica."""
        n = max(self.replicas, default=-1) + 1
        mean = per(self.total, n)
        return [per(self.replicas.get(i, 0), mean) for i in range(n)]


def per(a, b):
    """a / b, 0 where there is nothing to divide by."""
    return a / b if b > 0 else 0.0


def share(part, whole):
    """In percent."""
    return 100.0 * part / whole if whole > 0 else 0.0


def add_rows(bill, step, file):
    """Tokens, groups, replicas and prompts of one step, from its rows."""
    lengths = np.diff(file["tokens/completion_offset"][:])
    if len(file["tokens/ids"]) != lengths.sum():
        sys.exit(f"{file.filename}: the token rows don't end where the offsets say")
    finish = file["completions/finish_reason"][:].astype(int)
    correct = file["completions/correct"][:].astype(bool)
    index = file["candidates/index"][:]
    at = np.searchsorted(index, file["completions/candidate"][:])
    ended = (finish == 1) | (finish == 2)  # stop, length

    def count(weights):
        return np.bincount(at, weights, len(index)).astype(np.int64)

    columns = zip(
        file["candidates/prompt_id"][:].tolist(),
        file["candidates/fate"][:].astype(int).tolist(),
        file["candidates/replica"][:].tolist(),
        count(lengths).tolist(),
        count(np.ones(len(at))).tolist(),
        count(ended).tolist(),
        count(ended & correct).tolist(),
    )
    names = runs.fate_names(file)
    tokens, effective = [0] * len(bill.fates), 0
    for prompt, fate, replica, n, size, judged, right in columns:
        trained = names[fate] == "trained"
        tokens[bill.fates.index(names[fate])] += n
        effective += judged == size and 0 < right < size
        bill.replicas[replica] = bill.replicas.get(replica, 0) + n
        p = bill.prompts.setdefault(prompt, Prompt(prompt))
        p.visits += 1
        p.trained += trained
        p.judged += judged
        p.correct += right
        p.tokens += n
        p.wasted += 0 if trained else n
    bill.candidates_of[step] = len(index)
    bill.effective_of[step] = effective
    return tokens


def add_seconds(bill, step, file, seconds):
    """The seconds of all ranks in one step, by cause; `seconds`: of decoding, by fate."""
    missing = []

    def get(name):
        if "metrics/" + name in file:
            return float(file["metrics/" + name][()])
        missing.append(name)
        return 0.0

    ranks, learners, replicas = (get("job/" + x) for x in ("ranks", "learners", "replicas"))
    most = get("time/decode_seconds_max")
    decode, idle = get("time/decode_seconds"), get("time/idle_slot_seconds")
    learn, deliver = get("time/learn_seconds"), get("time/deliver_seconds")
    publish, files = get("time/publish_seconds"), get("time/files_seconds")
    evaluation = get("time/eval_seconds")
    wall = get("time/step_seconds") + evaluation + files
    busy, billed = ((decode - idle) / decode if decode > 0 else 0.0), 0.0
    for fate in bill.fates:
        billed += seconds[fate]
    common = deliver + publish + files + evaluation
    x = [
        busy * seconds["trained"],
        busy * (seconds["all_correct"] + seconds["all_wrong"]),
        busy * seconds["surplus"],
        busy * seconds["cancelled"],
        busy * (seconds["stale"] + seconds["failed"]),
        busy * (decode - billed) if billed < decode else 0.0,
        idle,
        get("time/wait_group_seconds"),
        get("time/wait_tick_seconds"),
        get("time/judge_seconds"),
        learners * learn,
        ranks * deliver,
        ranks * publish,
        ranks * files,
        ranks * evaluation,
        learners * (wall - learn - common) if ranks > 1 else 0.0,
    ]
    rest = ranks * wall
    for part in x:
        rest -= part
    x.append(rest)
    for i, part in enumerate(x):
        bill.seconds[i] += part
    bill.seconds_of[step] = x
    bill.rank_seconds += ranks * wall
    bill.wall += wall
    bill.wall_of[step] = wall
    bill.timed = bill.timed and not missing
    bill.roles = (int(ranks), int(learners), int(replicas))
    bill.decode_max += most
    bill.decode_mean += per(decode, replicas)


def check_carried(file, step, billed, before):
    """Tokens drawn in a step are billed in it, or in a later one with the groups that go
    on (admission.surplus = resume).  `before` and the result: a step, and the tokens of
    the groups that went on behind it."""
    if "metrics/rollout/carried_out_tokens" not in file:
        return step, 0.0
    drawn, into, out = (
        float(file["metrics/rollout/" + name][()])
        for name in ("drawn_tokens", "carried_in_tokens", "carried_out_tokens")
    )
    was = before[1] if step == before[0] + 1 and before[0] > 0 else into
    if drawn + into != billed + out or into != was:
        sys.exit(
            f"{file.filename}: {drawn:.0f} tokens were drawn and {into:.0f} carried in "
            f"({was:.0f} were carried out before), but {billed} are billed and {out:.0f} "
            f"carried out"
        )
    return step, out


def read(run):
    """The bill of a run directory; exits with a sentence where a step file's ledger isn't
    the sum of its rows."""
    bill = Bill(runs.name_of(run))
    carried = (0, 0.0)
    for step, path in runs.step_files(run):
        with runs.open_step(path) as file:
            ledger = runs.ledger(file)
            bill.fates = bill.fates or list(ledger.index)
            bill.sum = bill.sum or [0] * len(bill.fates)
            tokens = add_rows(bill, step, file)
            for i, fate in enumerate(bill.fates):
                billed = int(ledger["tokens"][fate])
                if tokens[i] != billed:
                    sys.exit(
                        f"{path}: the ledger bills {billed} tokens to {fate}, the token "
                        f"rows hold {tokens[i]}"
                    )
                bill.sum[i] += tokens[i]
            carried = check_carried(file, step, sum(tokens), carried)
            bill.steps[step] = tokens
            add_seconds(bill, step, file, ledger["seconds"].to_dict())
    return bill


# -- as text ----------------------------------------------------------------------------


def step_lines(bill):
    """Tokens by step and fate."""
    shown = [i for i, f in enumerate(bill.fates) if f == "trained" or bill.sum[i] > 0]
    trained = bill.fates.index("trained")
    yield (
        f"{'step':>8}"
        + "".join(f" {bill.fates[i]:>12}" for i in shown)
        + f" {'total':>12} {'wasted':>8}"
    )
    for step, tokens in [*bill.steps.items(), ("sum", bill.sum)]:
        total = sum(tokens)
        yield (
            f"{step:>8}"
            + "".join(f" {tokens[i]:12d}" for i in shown)
            + f" {total:12d} {share(total - tokens[trained], total):7.1f}%"
        )
    yield "every step's ledger equals its token rows"


def relations(bill):
    """[(name, value, unit)] of the relations that matter."""
    balance = bill.balance()
    rows = [
        (
            "effective / candidate groups",
            per(bill.effective, bill.candidates),
            f"({bill.effective} of {bill.candidates})",
        ),
        ("train / rollout tokens", per(bill.trained, bill.total), ""),
    ]
    if bill.timed:
        rows += [("effective groups per second", per(bill.effective, bill.wall), "")]
    rows += [("generated per trained token", per(bill.total, bill.trained), "tokens")]
    if bill.timed:
        cost = per(1000.0 * bill.rank_seconds, bill.trained)
        rows += [("cost of 1000 trained tokens", cost, "rank-seconds")]
    rows += [
        ("tokens of the busiest replica", max(balance, default=0.0), "of the mean"),
        ("tokens of the idlest replica", min(balance, default=0.0), "of the mean"),
    ]
    if bill.timed:
        most = per(bill.decode_max, bill.decode_mean)
        rows += [("decode time of the busiest", most, "of the mean, step by step")]
    return rows


def second_rows(bill):
    """[(cause, seconds, share in percent, per 1000 trained tokens)], the sum last."""
    return [
        (name, x, share(x, bill.rank_seconds), per(1000.0 * x, bill.trained))
        for name, x in [
            *zip(CAUSES, bill.seconds),
            ("ranks x wall clock", bill.rank_seconds),
        ]
    ]


def second_lines(bill):
    """Seconds of all ranks by cause."""
    if not bill.timed:
        yield "no seconds: there are step files without the metrics for them"
        return
    yield f"{'seconds of all ranks':<28} {'seconds':>12} {'share':>7} {'per 1000 trained tokens':>22}"
    for name, seconds, part, cost in second_rows(bill):
        yield f"{name:<28} {seconds:12.3f} {part:6.1f}% {cost:22.4f}"


def rate_rows(bill):
    """[(class, prompts, visits, tokens, wasted, share of all waste in percent)]."""
    wasted = bill.total - bill.trained
    rows = []
    for k, name in enumerate(RATES):
        of = [p for p in bill.prompts.values() if p.rate() == k]
        lost = sum(p.wasted for p in of)
        visits, tokens = sum(p.visits for p in of), sum(p.tokens for p in of)
        if of:
            rows.append((name, len(of), visits, tokens, lost, share(lost, wasted)))
    return rows


def prompt_lines(bill):
    """Prompts by pass rate, and the most wasteful ones."""
    yield (
        f"{'pass rate':<12} {'prompts':>10} {'visits':>10} {'tokens':>12} {'wasted':>12} "
        f"{'share of waste':>16}"
    )
    for name, n, visits, tokens, lost, part in rate_rows(bill):
        yield f"{name:<12} {n:10d} {visits:10d} {tokens:12d} {lost:12d} {part:15.1f}%"
    yield ""
    yield (
        f"{'prompt':>12} {'visits':>10} {'trained':>10} {'pass rate':>10} {'tokens':>12} "
        f"{'wasted':>12}   most wasteful first"
    )
    for p in bill.by_waste()[:MOST_PROMPTS]:
        rate = f"{per(p.correct, p.judged):10.3f}" if p.judged else f"{'-':>10}"
        yield (
            f"{p.prompt:12d} {p.visits:10d} {p.trained:10d} {rate} {p.tokens:12d} "
            f"{p.wasted:12d}"
        )


def lines(bill):
    """The whole bill."""
    head = f"run {bill.name}: {len(bill.steps)} steps"
    if bill.timed:
        ranks, learners, replicas = bill.roles
        head += f", {ranks} ranks: {learners} learn, {replicas} generate"
    yield head
    yield ""
    yield from step_lines(bill)
    yield ""
    for name, value, unit in relations(bill):
        yield f"{name:<32} {value:10.3f} {unit}".rstrip()
    yield ""
    yield from second_lines(bill)
    yield ""
    yield from prompt_lines(bill)
