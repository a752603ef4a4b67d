#!/usr/bin/env python3
"""Two whole updates of a tiny Qwen2, computed in float64 by PyTorch and transformers.

Writes tests/ref/update/: the model and the reference model as Hugging Face directories,
the batch and the expected scalars as update.json, and for each case the gradient of the
first update and the weights after the second, again as model directories so that the
test can read them with the program's own reader.

    python3 tests/ref/make_update.py        (torch, transformers, safetensors)

Nothing here is shared with the C code: loss and reductions are written the padded-batch
way, AdamW and the norm clip are torch's.
"""
import json
import pathlib

import torch
from safetensors.torch import save_file
from transformers import Qwen2Config, Qwen2ForCausalLM

OUT = pathlib.Path(__file__).parent / "update"
CONFIG = {
    "architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "vocab_size": 48,
    "hidden_size": 16, "intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 2, "num_key_value_heads": 1, "rms_norm_eps": 1e-6,
    "rope_theta": 10000.0, "max_position_embeddings": 64, "hidden_act": "silu",
    "tie_word_embeddings": True, "use_sliding_window": False, "attention_dropout": 0.0,
    "bos_token_id": 0, "eos_token_id": 1, "torch_dtype": "float32",
}
TEMPERATURE, MICROBATCH = 0.8, 12
CLIP_LOW, CLIP_HIGH, DUAL = 0.2, 0.28, 3.0
OPTIMIZER = {"lr": 2e-3, "beta1": 0.9, "beta2": 0.95, "eps": 1e-4, "weight_decay": 0.1,
             "grad_clip": 0.2, "warmup_updates": 4}
CASES = [  # name, reduction, mask_truncated, kl_coef, clip_high, dual_clip, tis_cap
    ("token_mean", "token_mean", False, 0.05, CLIP_HIGH, DUAL, 0.0),
    ("sample_mean", "sample_mean", False, 0.05, CLIP_HIGH, DUAL, 0.0),
    ("token_mean_microbatch", "token_mean_microbatch", False, 0.05, CLIP_HIGH, DUAL, 0.0),
    ("masked_grpo", "sample_mean", True, 0.0, 0.2, 0.0, 0.0),
    ("stale", "token_mean", False, 0.05, 0.001, DUAL, 1.5),
]
GRADIENTS = ["token_mean", "sample_mean", "token_mean_microbatch", "stale"]


def save(directory, tensors):
    directory.mkdir(parents=True, exist_ok=True)
    save_file({k: v.detach().to(torch.float32).contiguous() for k, v in tensors.items()},
              directory / "model.safetensors")
    (directory / "config.json").write_text(json.dumps(CONFIG, indent=1) + "\n")


def named(model):
    return dict(model.named_parameters())  # the tied head is not repeated


def make(seed):
    torch.manual_seed(seed)
    config = Qwen2Config(**CONFIG)
    config._attn_implementation = "eager"
    model = Qwen2ForCausalLM(config).double().train()
    for name, p in named(model).items():
        noise = torch.randn(p.shape, dtype=torch.float64)
        p.data = (1 + 0.1 * noise if "norm" in name else 0.25 * noise).float().double()
    return model


def batch():
    """Three groups of uneven completions; rewards +-1 and a length penalty."""
    g = torch.Generator().manual_seed(7)
    lengths = [[3, 7, 1, 5], [9, 2, 4], [6, 12]]
    rewards = [[1, -1, -1, 1], [-1.5, 1, -1], [1, -1]]
    sequences = []
    for lens, reward in zip(lengths, rewards):
        r = torch.tensor(reward, dtype=torch.float64)
        adv = (r - r.mean()) / (r.std(unbiased=True) + 1e-6)
        prompt = torch.randint(2, 48, (int(torch.randint(1, 6, (1,), generator=g)),),
                               generator=g).tolist()
        for n, a in zip(lens, adv.tolist()):
            ids = torch.randint(2, 48, (n,), generator=g).tolist()
            sequences.append({"prompt": prompt, "ids": ids, "advantage": a,
                              "truncated": n in (9, 7), "order": len(sequences)})
    return sequences


def outputs(model, s):
    """Log-probs and entropies of one completion, each token given all before it."""
    ids = torch.tensor([s["prompt"] + s["ids"]])
    logits = model(input_ids=ids).logits[0, len(s["prompt"]) - 1:-1] / TEMPERATURE
    logp = torch.log_softmax(logits, -1)
    picked = logp.gather(1, torch.tensor(s["ids"])[:, None])[:, 0]
    return picked, -(logp.exp() * logp).sum(-1)


def stale(sequences, model):
    """old_logp at fixed log-ratios from now: clipped on both sides, far beyond both
    (dual clip), and inside; none near a bound."""
    steps = [0.0, 0.1, 0.6, -0.6, 2.0, -0.1, -1.5, 0.35, 0.15, -0.3]
    with torch.no_grad():
        for s in sequences:
            logp, _ = outputs(model, s)
            away = torch.tensor([steps[(3 * s["order"] + t) % len(steps)]
                                 for t in range(len(s["ids"]))])
            s["old_logp"] = (logp - away).float().tolist()


def cut(sequences):
    cuts, rows = [[]], 0
    for s in sequences:
        n = len(s["prompt"]) + len(s["ids"])
        if cuts[-1] and rows + n > MICROBATCH:
            cuts.append([])
            rows = 0
        cuts[-1].append(s)
        rows += n
    return cuts


def padded(rows):
    most = max(len(r) for r in rows)
    return torch.stack([torch.nn.functional.pad(r, (0, most - len(r))) for r in rows])


def at_start(sequences, model):
    """prox_logp: the policy at the step's start, as it is stored; half of the completions
    are fresh, their tokens sampled by that very policy."""
    with torch.no_grad():
        for s in sequences:
            s["prox_logp"] = outputs(model, s)[0].float().tolist()
            s["stale"] = s["order"] % 2 == 0


def decoupled(part, old, cap):
    """What the ratio is taken to, and the weight, of each padded token."""
    if not cap:
        return old, torch.ones_like(old)
    prox = padded([torch.tensor(s["prox_logp"] if s["stale"] else s["old_logp"],
                                dtype=torch.float64) for s in part])
    return prox, torch.exp(prox - old).clamp(max=cap)


def token_losses(model, ref, part, kl_coef, high, dual, cap):
    """Padded [sequence][token] losses of one microbatch, their mask, and the figures."""
    now, entropy = zip(*[outputs(model, s) for s in part])
    mask = padded([torch.ones(len(s["ids"]), dtype=torch.float64) for s in part])
    logp, entropy = padded(now), padded(entropy)
    old = padded([torch.tensor(s["old_logp"], dtype=torch.float64) for s in part])
    adv = torch.tensor([s["advantage"] for s in part], dtype=torch.float64)[:, None]
    prox, weight = decoupled(part, old, cap)
    ratio = torch.exp((logp - prox).clamp(-20, 20))
    plain, clipped = -adv * ratio, -adv * ratio.clamp(1 - CLIP_LOW, 1 + high)
    loss = torch.maximum(plain, clipped)
    hit = (clipped > plain) & (mask > 0)
    over = torch.zeros_like(hit)
    if dual:
        over = (adv < 0) & (loss > -dual * adv) & (mask > 0)
        loss = torch.where(adv < 0, torch.minimum(loss, -dual * adv), loss)
    loss = weight * loss
    kl = torch.zeros_like(loss)
    if kl_coef:
        with torch.no_grad():
            base = padded([outputs(ref, s)[0].float().double() for s in part])
        d = (base - logp).clamp(-20, 20)
        kl = torch.exp(d) - d - 1
        loss = loss + kl_coef * kl
    for bound in [1 - CLIP_LOW, 1 + high] + ([dual] if dual else []):
        assert ((ratio - bound).abs()[mask > 0] > 1e-4).all(), "a ratio near a bound"
    away = (logp - old).abs() * mask
    stale = mask * torch.tensor([float(s["stale"]) for s in part])[:, None]
    figures = {
        "kl": (kl * mask).sum(), "entropy": (entropy * mask).sum(),
        "ratio_mean": (ratio * mask).sum(), "mismatch_mean": away.sum(),
        "clip_fraction": hit.sum(), "lower_clip_fraction": (hit & (adv < 0)).sum(),
        "upper_clip_fraction": (hit & (adv > 0)).sum(), "dual_clip_fraction": over.sum(),
        "tis_tokens": stale.sum(), "tis_weight_mean": (weight * stale).sum(),
        "tis_capped_fraction": ((weight == cap) * stale).sum(),
        "gradient_active_tokens": ((adv != 0) & ~hit & ~over & (mask > 0)).sum(),
    }
    return loss, mask, {k: float(v.detach()) for k, v in figures.items()}, float(away.detach().max())


def update(model, ref, optimizer, sequences, u, case):
    _, reduction, whole, kl_coef, high, dual, cap = case
    kept = [s for s in sequences if not (whole and s["truncated"])]
    tokens, total, parts, most = sum(len(s["ids"]) for s in kept), 0, cut(kept), 0
    sums = {}
    for part in parts:
        loss, mask, figures, away = token_losses(model, ref, part, kl_coef, high, dual, cap)
        masked = loss * mask
        if reduction == "token_mean":
            total = total + masked.sum() / tokens
        elif reduction == "sample_mean":
            total = total + (masked.sum(1) / mask.sum(1)).sum() / len(kept)
        else:
            total = total + masked.sum() / mask.sum() * len(part) / len(kept)
        sums = {k: sums.get(k, 0) + v for k, v in figures.items()}
        most = max(most, away)
    active = sums.pop("gradient_active_tokens")
    weighed = {k: sums.pop(k) for k in list(sums) if k.startswith("tis_")}
    out = {k: v / tokens for k, v in sums.items()}
    if cap:
        stale = weighed["tis_tokens"]
        out |= {"tis_tokens": stale} | {k: weighed[k] / stale for k in weighed if k != "tis_tokens"}
    out |= {"loss": float(total.detach()), "gradient_active_tokens": active, "tokens": tokens,
            "sequences": len(kept), "microbatches": len(parts),
            "max_abs_log_ratio": most}
    return step(model, optimizer, total, u, out)


def step(model, optimizer, loss, u, out):
    lr = OPTIMIZER["lr"] * min(1, (u + 1) / OPTIMIZER["warmup_updates"])
    for group in optimizer.param_groups:
        group["lr"] = lr
    optimizer.zero_grad()
    loss.backward()
    grads = {k: p.grad.clone() for k, p in named(model).items()}
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), OPTIMIZER["grad_clip"])
    optimizer.step()
    return out | {"grad_norm": float(norm), "learning_rate": lr}, grads


def fresh():
    model = make(1)
    o = OPTIMIZER
    return model, torch.optim.AdamW(model.parameters(), lr=o["lr"], eps=o["eps"],
                                    betas=(o["beta1"], o["beta2"]),
                                    weight_decay=o["weight_decay"])


def main():
    ref, sequences = make(2), batch()
    save(OUT / "model", named(make(1)))
    save(OUT / "reference", named(ref))
    stale(sequences, make(1))
    at_start(sequences, make(1))
    result = {"temperature": TEMPERATURE, "microbatch_tokens": MICROBATCH,
              "clip_low": CLIP_LOW, "optimizer": OPTIMIZER, "sequences": sequences,
              "cases": []}
    for case in CASES:
        model, optimizer = fresh()
        updates = []
        for u in range(2):
            figures, grads = update(model, ref, optimizer, sequences, u, case)
            updates.append(figures)
            if u == 0 and case[0] in GRADIENTS:
                save(OUT / f"{case[0]}.grad", grads)
        save(OUT / f"{case[0]}.weights", named(model))
        result["cases"].append(dict(zip(
            ["name", "reduction", "mask_truncated", "kl_coef", "clip_high", "dual_clip",
             "tis_cap"], case)) | {"updates": updates})
    model, optimizer = fresh()
    nll = -torch.cat([torch.log_softmax(
        model(input_ids=torch.tensor([s["prompt"] + s["ids"]])).logits[0], -1)[
            len(s["prompt"]) - 1:-1].gather(1, torch.tensor(s["ids"])[:, None])[:, 0]
        for s in sequences])
    figures, _ = step(model, optimizer, nll.mean(), 0,
                      {"loss": float(nll.mean().detach()), "tokens": len(nll)})
    save(OUT / "supervised.weights", named(model))
    result["supervised"] = figures
    (OUT / "update.json").write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
