"""make_run.py DIR [STEPS] [SEED] - a small run as the trainer writes it, for the tests of
the analysis.  Step 1 has fixed numbers (test_analysis.sh knows them); later ones are
drawn.  With --lie the last step's ledger bills one token too many."""

import os
import sys

import h5py
import numpy as np

FATES = "trained all_correct all_wrong surplus cancelled stale failed".split()


STOP, CANCELLED = 1, 3


def write(path, step, fates, rows, metrics, seconds=None, lie=0):  # pylint: disable=R0913,R0914
    """fates[candidate]; rows: lengths and verdicts [candidate][member], prompts
    [candidate]; seconds of decoding by fate."""
    lengths, correct, prompts = rows
    tokens = np.array([sum(row) for row in lengths], dtype="i8")
    flat = [n for row in lengths for n in row]
    offsets = np.concatenate([[0], np.cumsum(flat)]).astype("i8")
    kind = h5py.enum_dtype({name: i for i, name in enumerate(FATES)}, basetype="i8")
    with h5py.File(path, "w") as f:
        f.attrs.update(schema=1, complete=1, step=step, policy_version=step - 1)
        f.attrs["closed_by"] = np.bytes_("full")
        number = [FATES.index(fate) for fate in fates]
        f.create_dataset("candidates/index", data=np.arange(len(fates)))
        f.create_dataset("candidates/fate", data=number, dtype=kind)
        f["candidates/n_tokens"] = tokens
        f["candidates/prompt_id"] = np.array(prompts, "i8")
        f["candidates/replica"] = np.arange(len(fates)) % 3
        owner = [c for c, row in enumerate(lengths) for _ in row]
        f["completions/candidate"] = np.array(owner, dtype="i8")
        f["completions/correct"] = np.array([v for row in correct for v in row], "i8")
        cut = [CANCELLED if fates[c] == "cancelled" else STOP for c in owner]
        f["completions/finish_reason"] = np.array(cut, "i8")
        f["tokens/completion_offset"] = offsets
        f["tokens/ids"] = np.zeros(offsets[-1], "i4")
        f["ledger/fate"] = np.array(FATES, "S16")
        bill = np.zeros(len(FATES), "i8")
        np.add.at(bill, number, tokens)
        bill[0] += lie
        f["ledger/tokens"] = bill
        f["ledger/seconds"] = [(seconds or {}).get(fate, 0.0) for fate in FATES]
        for name, value in metrics.items():
            f["metrics/" + name] = float(value)


# Seconds of step 1: see test_analysis.sh for what follows from them.
DECODE = {"trained": 4.0, "all_wrong": 2.0, "cancelled": 1.0, "all_correct": 0.5}
TIMES = {
    "job/ranks": 4, "job/learners": 1, "job/replicas": 3,
    "time/decode_seconds": 8, "time/decode_seconds_max": 4, "time/idle_slot_seconds": 2,
    "time/wait_group_seconds": 1, "time/wait_tick_seconds": 0.5, "time/judge_seconds": 0.25,
    "time/learn_seconds": 2, "time/deliver_seconds": 0.5, "time/publish_seconds": 0.25,
    "time/files_seconds": 0.25, "time/eval_seconds": 0, "time/step_seconds": 5,
}


def curve(step, rng):
    """Metrics that look like a run's."""
    rise = 1 - np.exp(-step / 15)
    noise = rng.normal(0, 0.03)
    out = {
        "reward/shaped_mean": -0.6 + 1.2 * rise + noise,
        "reward/accuracy": 0.25 + 0.5 * rise + noise / 2,
        "rollout/mean_completion_tokens": 40 + 20 * rise + 20 * noise,
        "ppo/entropy": 0.9 - 0.5 * rise + noise,
        "ppo/upper_clip_fraction": 0.01 + 0.01 * rise,
        "ppo/lower_clip_fraction": 0.004 + abs(noise) / 10,
        "rollout/effective_fill_ratio": min(1.0, 0.8 + rise / 4 + noise),
        "train/grad_norm": 1.5 - rise + abs(noise) if step != 2 else np.nan,
        "time/step_seconds": 3.0 + noise,
    }
    if step % 10 == 0:
        out["eval/average_at_n"] = 0.3 + 0.45 * rise
    return out


def main():
    """The command."""
    words = [word for word in sys.argv[1:] if word != "--lie"]
    folder = os.path.join(words[0], "rollouts")
    steps = int(words[1]) if len(words) > 1 else 30
    rng = np.random.default_rng(int(words[2]) if len(words) > 2 else 1)
    os.makedirs(folder, exist_ok=True)
    for step in range(1, steps + 1):
        if step == 1:
            fates = ["trained", "all_wrong", "trained", "cancelled", "all_correct"]
            lengths = [[5, 7], [20, 30], [0, 11], [3, 0], [2, 2]]
            correct = [[1, 0], [0, 0], [0, 1], [0, 0], [1, 1]]
            prompts, seconds = [10, 11, 12, 10, 14], DECODE
            metrics = {
                "eval/initial_average_at_n": 0.125,
                "reward/accuracy": 1 / 3,
                "train/grad_norm": 2.5,
                **TIMES,
            }
        else:
            late = min(1.0, step / 40)
            weights = [0.5, 0.05 + 0.25 * late, 0.3 - 0.2 * late, 0.05, 0.1, 0.0, 0.0]
            weights[0] += 1 - sum(weights)
            fates = rng.choice(FATES, 24, p=weights)
            lengths = rng.integers(20, 70, (24, 8)).tolist()
            metrics = curve(step, rng)
            seconds, prompts = None, list(range(24 * step, 24 * step + 24))
            correct = np.zeros((24, 8), int).tolist()
        lie = int("--lie" in sys.argv and step == steps)
        path = os.path.join(folder, f"step-{step:06d}.h5")
        rows = (lengths, correct, prompts)
        write(path, step, fates, rows, metrics, seconds, lie)


if __name__ == "__main__":
    main()
