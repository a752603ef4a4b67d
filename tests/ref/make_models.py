#!/usr/bin/env python3
"""Make the tiny models of tests/ref/models and what PyTorch computes with them.

    python3 tests/ref/make_models.py [NAME...]  # needs torch, transformers, safetensors

Per model: a Hugging Face directory, and ref.safetensors with, all as f32,
    ids, start   packed sequences
    logits       [rows][vocab] after each row
    at, target   rows and the tokens that follow
    coef         d loss / d log-prob of each
    logp, entropy  at TEMPERATURE over the first vocab - PADDED ids
    grad.NAME    gradient of loss = sum coef * logp by the parameter NAME
The models run in float64 (but transformers keeps norms, RoPE and softmax in float32).
Also rope.json: inverse frequencies of every supported rope scaling.
"""
import json
import pathlib
import sys
import torch
import transformers
from safetensors.torch import save_file
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

OUT = pathlib.Path(__file__).parent / "models"
TEMPERATURE = 0.8
PADDED = 5
LENGTHS = [19, 1, 7]

COMMON = dict(vocab_size=48, hidden_size=24, intermediate_size=36, num_hidden_layers=2,
              num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128,
              rms_norm_eps=1e-6, hidden_act="silu")

# Widths of Qwen3.5's text part: the four of linear attention all differ.
HYBRID = dict(vocab_size=48, hidden_size=16, intermediate_size=20, num_hidden_layers=4,
              num_attention_heads=2, num_key_value_heads=1, head_dim=8,
              max_position_embeddings=128, rms_norm_eps=1e-2, hidden_act="silu",
              attention_bias=False, attention_dropout=0.0, linear_num_key_heads=2,
              linear_num_value_heads=4, linear_key_head_dim=4, linear_value_head_dim=3,
              linear_conv_kernel_dim=4, dtype="bfloat16", eos_token_id=3)
VISION = dict(model_type="qwen3_5_vision", depth=1, hidden_size=8, num_heads=1,
              intermediate_size=8, patch_size=2, temporal_patch_size=2,
              spatial_merge_size=2, out_hidden_size=16, num_position_embeddings=4)

# (name, config.json, generation_config.json, type of the weights, number of shards)
MODELS = [
    ("qwen2", dict(COMMON, architectures=["Qwen2ForCausalLM"], model_type="qwen2",
                   rope_theta=10000.0, tie_word_embeddings=True, use_sliding_window=False,
                   sliding_window=4096, max_window_layers=2, eos_token_id=3,
                   rope_scaling=dict(type="yarn", factor=4.0,
                                     original_max_position_embeddings=32),
                   torch_dtype="bfloat16"),
     dict(eos_token_id=[4, 3]), torch.bfloat16, 1),
    ("qwen3", dict(COMMON, architectures=["Qwen3ForCausalLM"], model_type="qwen3",
                   head_dim=8, tie_word_embeddings=False, attention_bias=False,
                   use_sliding_window=False, sliding_window=None, eos_token_id=3,
                   layer_types=["full_attention"] * 2, dtype="float16",
                   rope_parameters=dict(rope_type="default", rope_theta=1000000.0)),
     None, torch.float16, 2),
    ("llama", dict(COMMON, architectures=["LlamaForCausalLM"], model_type="llama",
                   head_dim=8, tie_word_embeddings=False, attention_bias=True,
                   mlp_bias=True, rope_theta=500000.0, eos_token_id=[3, 7],
                   rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0,
                                     high_freq_factor=4.0,
                                     original_max_position_embeddings=64),
                   torch_dtype="float32"),
     dict(eos_token_id=7), torch.float32, 1),
    ("qwen35", dict(HYBRID, architectures=["Qwen3_5ForCausalLM"],
                    model_type="qwen3_5_text", tie_word_embeddings=False,
                    linear_conv_kernel_dim=3, dtype="float32",
                    layer_types=["linear_attention", "full_attention",
                                 "linear_attention", "linear_attention"],
                    rope_parameters=dict(rope_type="default", rope_theta=10000.0,
                                         partial_rotary_factor=0.75)),
     None, torch.float32, 1),
    # as the released files are: vision beside the text, heads for several tokens
    ("qwen35_vl", dict(architectures=["Qwen3_5ForConditionalGeneration"],
                       model_type="qwen3_5", tie_word_embeddings=True,
                       image_token_id=40, video_token_id=41, vision_start_token_id=42,
                       vision_end_token_id=43, vision_config=VISION,
                       text_config=dict(HYBRID, model_type="qwen3_5_text",
                                        tie_word_embeddings=True, attn_output_gate=True,
                                        full_attention_interval=4,
                                        mtp_num_hidden_layers=1,
                                        rope_parameters=dict(
                                            rope_type="default", rope_theta=10000000.0,
                                            mrope_interleaved=True,
                                            mrope_section=[1, 0, 0],
                                            partial_rotary_factor=0.25))),
     dict(eos_token_id=[4, 3]), torch.bfloat16, 2),
]


def write_json(path, value):
    path.write_text(json.dumps(value, indent=1) + "\n")


def write_weights(folder, state, shards):
    names = sorted(state)
    if shards == 1:
        save_file(state, folder / "model.safetensors", metadata={"format": "pt"})
        return
    where = {}
    for i in range(shards):
        file = f"model-{i + 1:05d}-of-{shards:05d}.safetensors"
        part = {n: state[n] for n in names[i::shards]}
        save_file(part, folder / file, metadata={"format": "pt"})
        where.update({n: file for n in part})
    write_json(folder / "model.safetensors.index.json",
               {"metadata": {}, "weight_map": where})


def random_weights(model, dtype):
    """Large enough that no part is nearly linear; exact in `dtype`."""
    hybrid = "qwen3_5" in model.config.model_type  # norms multiply by 1 + weight
    with torch.no_grad():
        for name, p in model.named_parameters():
            x = torch.randn(p.shape, dtype=torch.float64) * 0.25
            centred = hybrid and not name.endswith("linear_attn.norm.weight")
            if name.endswith("norm.weight") and not centred:
                x = 1 + x
            if name.endswith("A_log"):
                x = 4 * x  # some heads forget at once, others hardly
            if name.endswith("conv1d.weight"):
                x = 4 * x
            p.copy_(x.to(dtype).to(p.dtype))


def reference(model, folder, vocab):
    real = vocab - PADDED
    rows, logits = [], []
    generator = torch.Generator().manual_seed(1)
    for n in LENGTHS:
        ids = torch.randint(0, real, (1, n), generator=generator)
        rows.append(ids[0])
        logits.append(model(ids).logits[0])
    start = torch.tensor([0] + LENGTHS).cumsum(0)
    ids, logits = torch.cat(rows), torch.cat(logits)
    at = torch.cat([torch.arange(s, s + n - 1) for s, n in zip(start, LENGTHS)])
    target = ids[at + 1]
    logp = torch.log_softmax(logits[at, :real] / TEMPERATURE, -1)
    entropy = -(logp.exp() * logp).sum(-1)
    chosen = logp.gather(1, target[:, None])[:, 0]
    coef = ((torch.arange(len(at)) * 5 % 7) - 3).double() / 3
    (coef * chosen).sum().backward()
    out = dict(ids=ids, start=start, logits=logits, at=at, target=target, coef=coef,
               logp=chosen, entropy=entropy)
    out.update({"grad." + n: p.grad for n, p in model.named_parameters()
                if p.grad is not None})
    save_file({n: x.detach().float().contiguous() for n, x in out.items()},
              folder / "ref.safetensors")


def beside_text(config):
    """Tensors of the released files that are no part of the text model."""
    if "vision_config" not in config:
        return {}
    whole = transformers.AutoConfig.for_model(**config)
    whole = transformers.Qwen3_5ForConditionalGeneration(whole)
    out = {n: p.detach() for n, p in whole.named_parameters() if "visual" in n}
    assert out and all(n.startswith("model.visual.") for n in out)
    return {**out, "mtp.fc.weight": torch.zeros(16, 32),
            "mtp.layers.0.input_layernorm.weight": torch.zeros(16)}


def make_model(name, config, generation, dtype, shards):
    folder = OUT / name
    folder.mkdir(parents=True, exist_ok=True)
    write_json(folder / "config.json", config)
    if generation:
        write_json(folder / "generation_config.json", generation)
    torch.manual_seed(len(name))
    # transformers itself reads the file: its reading of it is part of the reference
    loaded = transformers.AutoConfig.from_pretrained(folder)
    loaded.dtype = "float64"
    torch.set_default_dtype(torch.float64)
    model = transformers.AutoModelForCausalLM.from_config(
        loaded, attn_implementation="eager", dtype=torch.float64).eval()
    torch.set_default_dtype(torch.float32)
    random_weights(model, dtype)
    state = {n: p.detach().to(dtype).contiguous() for n, p in model.named_parameters()}
    if "vision_config" in config:
        state = {n.replace("model.", "model.language_model.", 1): p
                 for n, p in state.items()}
        state.update({n: p.to(dtype) for n, p in beside_text(config).items()})
    write_weights(folder, state, shards)
    reference(model, folder, loaded.get_text_config().vocab_size)


def make_ropes():
    cases = []
    for scaling in [
        dict(rope_type="linear", factor=3.0),
        dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
             original_max_position_embeddings=8192),
        dict(rope_type="yarn", factor=4.0, original_max_position_embeddings=32768),
        dict(rope_type="yarn", factor=40.0, original_max_position_embeddings=4096,
             mscale=1.0, mscale_all_dim=0.5, beta_fast=24, beta_slow=2),
        dict(rope_type="yarn", factor=32.0, original_max_position_embeddings=4096,
             truncate=False, attention_factor=1.25),
    ]:
        config = dict(COMMON, architectures=["LlamaForCausalLM"], model_type="llama",
                      head_dim=64, max_position_embeddings=131072, rope_theta=500000.0,
                      rope_scaling=scaling)
        loaded = transformers.LlamaConfig(**json.loads(json.dumps(config)))
        freq, scale = ROPE_INIT_FUNCTIONS[scaling["rope_type"]](loaded, "cpu")
        cases.append(dict(config=config, inv_freq=freq.tolist(), scale=scale))
    # of a part of each head: the longest contexts of Qwen3.5
    config = dict(HYBRID, architectures=["Qwen3_5ForCausalLM"], model_type="qwen3_5_text",
                  head_dim=64, max_position_embeddings=131072, rope_parameters=dict(
                      rope_type="yarn", rope_theta=10000000.0, factor=4.0,
                      original_max_position_embeddings=32768,
                      partial_rotary_factor=0.25))
    loaded = transformers.Qwen3_5TextConfig(**json.loads(json.dumps(config)))
    freq, scale = ROPE_INIT_FUNCTIONS["yarn"](loaded, "cpu")
    cases.append(dict(config=config, inv_freq=freq.tolist(), scale=scale))
    write_json(pathlib.Path(__file__).parent / "rope.json", cases)


if __name__ == "__main__":
    for case in MODELS:
        if case[0] in sys.argv[1:] or not sys.argv[1:]:
            make_model(*case)
    if "rope" in sys.argv[1:] or not sys.argv[1:]:
        make_ropes()
