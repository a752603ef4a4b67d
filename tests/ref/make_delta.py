"""A linear attention layer of Qwen3.5 by transformers, and its gradients by autograd: the
numbers of tests/unit/backend/test_delta.c, in delta.json beside this file.

    python3 tests/ref/make_delta.py

Convolution, gates and the gated delta rule of one sequence, and a rotation of a part of
each head.  "d_NAME" is the gradient of sum(o * d_o) with respect to NAME.
"""
import json
import pathlib

import torch
from transformers.models.qwen3_5.modeling_qwen3_5 import (
    apply_rotary_pos_emb,
    causal_conv1d_fn,
    torch_recurrent_gated_delta_rule,
)

ROWS, KEY_HEADS, VALUE_HEADS, KEY_DIM, VALUE_DIM, KERNEL = 7, 2, 4, 3, 5, 4
KEYS, VALUES = KEY_HEADS * KEY_DIM, VALUE_HEADS * VALUE_DIM
torch.manual_seed(1)


def leaf(*shape, scale=1.0):
    return (torch.randn(*shape) * scale).requires_grad_()


def kept(x):
    x.retain_grad()
    return x


x = leaf(ROWS, 2 * KEYS + VALUES)
w = leaf(2 * KEYS + VALUES, KERNEL, scale=0.7)
a, b = leaf(ROWS, VALUE_HEADS), leaf(ROWS, VALUE_HEADS)
a_log, dt_bias = leaf(VALUE_HEADS), leaf(VALUE_HEADS)

y = kept(causal_conv1d_fn(x.T[None], w, None, "silu")[0].T)
beta = kept(b.sigmoid())
decay = kept((-a_log.exp() * torch.nn.functional.softplus(a + dt_bias)).exp())
q, k, v = torch.split(y[None], [KEYS, KEYS, VALUES], dim=-1)
o, state = torch_recurrent_gated_delta_rule(
    q.reshape(1, ROWS, KEY_HEADS, KEY_DIM),
    k.reshape(1, ROWS, KEY_HEADS, KEY_DIM),
    v.reshape(1, ROWS, VALUE_HEADS, VALUE_DIM),
    g=decay.log()[None],
    beta=beta[None],
    output_final_state=True,
    use_qk_l2norm_in_kernel=True,
)
d_o = torch.randn(ROWS, VALUES)
(o[0].reshape(ROWS, VALUES) * d_o).sum().backward()

ROTARY, DIM = 4, 6
inv_freq = torch.tensor([1.0, 0.01])
turned = torch.randn(2, DIM)  # rows at positions 3 and 500
angles = torch.outer(torch.tensor([3.0, 500.0]), inv_freq).repeat(1, 2)[None]
rotated, _ = apply_rotary_pos_emb(
    turned[None, None], turned[None, None], angles.cos(), angles.sin()
)

out = {
    "rows": ROWS,
    "key_heads": KEY_HEADS,
    "value_heads": VALUE_HEADS,
    "key_dim": KEY_DIM,
    "value_dim": VALUE_DIM,
    "kernel": KERNEL,
    "turned": turned,
    "rotated": rotated,
    "o": o,
    "state": state,
    "d_o": d_o,
}
for name in "x w a b a_log dt_bias y beta decay".split():
    out[name] = globals()[name]
    out["d_" + name] = globals()[name].grad
for name, value in out.items():
    if isinstance(value, torch.Tensor):
        out[name] = [float(f"{n:.7g}") for n in value.detach().flatten().tolist()]
path = pathlib.Path(__file__).parent / "delta.json"
path.write_text(json.dumps(out).replace('], "', '],\n"') + "\n")
