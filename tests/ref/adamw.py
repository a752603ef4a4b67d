"""Three AdamW steps by PyTorch: the numbers of tests/unit/backend/test_optim.c.

    python3 tests/ref/adamw.py
"""
import torch

w = torch.nn.Parameter(torch.tensor([1.0, -2.0, 0.5, 1 / 3]))
opt = torch.optim.AdamW([w], lr=0.1, betas=(0.9, 0.99), eps=1e-3, weight_decay=0.2)
for step in range(3):
    # The test passes twice these gradients, with grad_scale = 0.5.
    w.grad = torch.tensor([0.1, -0.2, 0.0, 1.0]) * (step + 1) - torch.tensor(
        [0.3, 0.0, 0.0, 1.5]
    )
    opt.step()
    state = opt.state[w]
    for name, x in ("w", w.data), ("m", state["exp_avg"]), ("v", state["exp_avg_sq"]):
        print(step + 1, name, ", ".join(f"{v:.9g}f" for v in x.tolist()))
