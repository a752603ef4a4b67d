#!/usr/bin/env python3
"""Make the adapters of tests/ref/lora and what the PEFT library computes with them.

    python3 tests/ref/make_lora.py      # needs torch, transformers, safetensors, peft

Per model of tests/ref/models and choice of targets: a directory as PEFT saves it (A and B
random, none zero), and ref.safetensors as make_models.py describes it, the gradients being
those of A and B.  The models run in float64.

    python3 tests/ref/make_lora.py DIR BASE IDS...

prints the log-probs of token ids under the adapter DIR on the model BASE instead, in
float64: what another program's adapter means to PEFT.
"""
import sys

import peft
import torch
import transformers

from make_models import MODELS, OUT, reference

TARGETS = {"all": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj",
                   "down_proj"],
           "qv": ["q_proj", "v_proj"]}
LINEAR = ["in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"]


def open_base(folder):
    torch.set_default_dtype(torch.float64)
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, attn_implementation="eager", dtype=torch.float64).eval()
    torch.set_default_dtype(torch.float32)
    return model


def random_adapter(model):
    """Values that float32 holds, large enough to matter."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "lora_" in name:
                p.copy_((torch.randn(p.shape) * 0.2).double())


def plain_names(model):
    """The names of a saved adapter, for reference()."""
    class View:
        def __call__(self, *args):
            return model(*args)

        def named_parameters(self):
            return [(n.replace(".default", ""), p) for n, p in model.named_parameters()]
    return View()


def make_adapter(name, config, case):
    folder = OUT.parent / "lora" / f"{name}-{case}"
    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(len(name) + len(case))
    hybrid = name.startswith("qwen35") and case == "all"
    lora = peft.LoraConfig(r=4, lora_alpha=8, task_type="CAUSAL_LM",
                           target_modules=TARGETS[case] + (LINEAR if hybrid else []))
    model = peft.get_peft_model(open_base(OUT / name), lora).eval()
    model.double()
    random_adapter(model)
    reference(plain_names(model), folder, config["vocab_size"])
    model.peft_config["default"].base_model_name_or_path = f"tests/ref/models/{name}"
    model.float().save_pretrained(folder)
    (folder / "README.md").unlink(missing_ok=True)


def score(adapter, base, ids):
    model = peft.PeftModel.from_pretrained(open_base(base), adapter).double().eval()
    with torch.no_grad():
        logp = torch.log_softmax(model(torch.tensor([ids])).logits[0], -1)
    print(*(f"{logp[i, ids[i + 1]]:.9f}" for i in range(len(ids) - 1)))


if len(sys.argv) > 1:
    score(sys.argv[1], sys.argv[2], [int(x) for x in sys.argv[3:]])
else:
    for name, config, *_ in MODELS:
        if name == "qwen35_vl":  # its text part is one of these
            continue
        for case in TARGETS:
            make_adapter(name, config, case)
