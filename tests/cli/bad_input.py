"""bad_input.py MODEL PROMPTS DIR - write broken jobs, models, tokenizers and prompt files
into DIR, each made from a sound one (DIR/sound.ini) by one change; print a line per case:
    job file <TAB> exit status <TAB> what the sentence must contain (extended regex)
"""
import json
import pathlib
import shutil
import struct
import sys

model, prompts, out = map(pathlib.Path, sys.argv[1:])
USAGE, DATA, FILE, CONFIG = 64, 65, 74, 78
JOB = {
    "run": {"name": "bad", "dir": out / "runs", "steps": 1},
    "model": {"path": model},
    "data": {"train": prompts},
    "prompt": {"template": "custom", "custom": "{user}", "suffix": "\\s", "max_tokens": 100},
    "rollout": {"max_tokens": 16, "slots": 4},
    "admission": {"groups": 2, "group_size": 2, "max_multiplier": 2},
    "reward": {"overlong": "off"},
}


def job_text(**changes):
    """The sound job with section__key = value; None takes a key out."""
    job = {s: dict(keys) for s, keys in JOB.items()}
    for name, value in changes.items():
        section, key = name.split("__")
        job.setdefault(section, {})[key] = value
    return "".join(f"[{s}]\n" + "".join(f"{k} = {v}\n" for k, v in keys.items()
                                        if v is not None) for s, keys in job.items())


def case(name, status, words, text):
    path = out / f"{name}.ini"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    print(path, status, words, sep="\t")


def jobs():
    sound = job_text()
    texts = [
        (CONFIG, "optimiser.*optimizer", sound + "[optimiser]\nlr = 1\n"),
        (CONFIG, "run.seeds.*run.seed", sound + "[run]\nseeds = 1\n"),
        (CONFIG, "job-02", sound + "[run]\nseed\n"),
        (CONFIG, "job-03", "seed = 1\n" + sound),
        (CONFIG, "job-04", sound + "[run\nseed = 1\n"),
        (CONFIG, "job-05", sound + "[run]\nname = " + "x" * 300 + "\n"),
        (CONFIG, "job-06", b"\x00\xff\xfe[run]\x00\n" * 50),
        (CONFIG, "model.path is not set", ""),
    ]
    changes = [
        (CONFIG, "run.steps", dict(run__steps="many")),
        (CONFIG, "run.steps", dict(run__steps="99999999999999999999999")),
        (CONFIG, "rollout.slots", dict(rollout__slots=0)),
        (CONFIG, "optimizer.lr", dict(optimizer__lr="nan")),
        (CONFIG, "loss.preset", dict(loss__preset="ppo")),
        (CONFIG, "data.shuffle", dict(data__shuffle="perhaps")),
        (CONFIG, "group_size = 1", dict(admission__group_size=1)),
        (CONFIG, "overlong_cache", dict(reward__overlong="add", reward__overlong_cache=17)),
        (CONFIG, "kv_tokens", dict(rollout__kv_tokens=100)),
        (CONFIG, "updates_per_step", dict(optimizer__updates_per_step=3)),
        (CONFIG, "reward.wrong", dict(reward__correct=-1)),
        (CONFIG, "dual_clip", dict(loss__dual_clip=1)),
        (CONFIG, "loss.reference", dict(loss__reference="x")),
        (CONFIG, "\\{user\\}", dict(prompt__custom="ask")),
        (CONFIG, "prompt.system", dict(prompt__template="plain", prompt__custom=None,
                                       prompt__system="be brief")),
        (CONFIG, "run.name", dict(run__name="../up")),
        (CONFIG, "run.resume", dict(run__resume="sometimes")),
        (CONFIG, "backend", dict(model__backend="tpu")),
        (CONFIG, "max_position_embeddings", dict(prompt__max_tokens=250)),
        (CONFIG, "data.train is not set", dict(data__train=None)),
        (FILE, "nowhere", dict(model__path=out / "nowhere")),
        (FILE, "nowhere", dict(data__train=out / "nowhere")),
        (FILE, "nowhere", dict(model__tokenizer=out / "nowhere")),
        (FILE, str(prompts), dict(run__dir=prompts)),
    ]
    for i, (status, words, text) in enumerate(texts):
        case(f"job-{i:02d}", status, words, text)
    for i, (status, words, change) in enumerate(changes, len(texts)):
        case(f"job-{i:02d}", status, words, job_text(**change))


class Model:
    """A copy of the sound model, to be changed."""

    def __init__(self, name):
        self.dir = out / name
        shutil.copytree(model, self.dir)
        self.file = self.dir / "model.safetensors"

    def read(self):
        b = self.file.read_bytes()
        n = struct.unpack("<Q", b[:8])[0]
        return json.loads(b[8:8 + n]), b[8 + n:]

    def write(self, header, data, length=None):
        h = header if isinstance(header, bytes) else json.dumps(header).encode()
        self.file.write_bytes(struct.pack("<Q", len(h) if length is None else length) + h + data)

    def tensor(self, **fields):
        header, data = self.read()
        header["model.norm.weight"].update(fields)
        self.write(header, data)

    def config(self, drop=(), **fields):
        path = self.dir / "config.json"
        c = json.loads(path.read_text())
        c.update(fields)
        for key in drop:
            del c[key]
        path.write_text(json.dumps(c))


def shift(by):
    def change(m):
        at = m.read()[0]["model.norm.weight"]["data_offsets"]
        m.tensor(data_offsets=[x + by for x in at])
    return change


def cut(n):
    return lambda m: m.file.write_bytes(m.file.read_bytes()[:n])


def without_tensor(m):
    header, data = m.read()
    del header["model.norm.weight"]
    m.write(header, data)


def extra_tensor(m):
    header, data = m.read()
    header["lora_A.weight"] = {"dtype": "F32", "shape": [1], "data_offsets":
                               [len(data), len(data) + 4]}
    m.write(header, data + b"\0\0\0\0")


def not_finite(m):
    header, data = m.read()
    m.write(header, b"\xff" * 8 + data[8:])


def shards(weight_map):
    def change(m):
        m.file.unlink()
        (m.dir / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}))
    return change


def text_of(name, text):
    return lambda m: (m.dir / name).write_text(text)


def no_stop(m):
    m.config(drop=["eos_token_id"])
    (m.dir / "generation_config.json").write_text("{}")


def hybrid(**fields):
    """Qwen3.5's configuration with the weights of another model."""
    whole = dict(model_type="qwen3_5_text", architectures=["Qwen3_5ForCausalLM"], head_dim=8,
                 linear_num_key_heads=2, linear_num_value_heads=2, linear_key_head_dim=8,
                 linear_value_head_dim=8, linear_conv_kernel_dim=4, rope_theta=10000.0)
    return lambda m: m.config(**{**whole, **fields})


def models():
    changes = [
        (DATA, "model.safetensors", cut(0)),
        (DATA, "model.safetensors", cut(7)),
        (DATA, "model.safetensors", cut(200)),
        (DATA, "model.safetensors", lambda m: cut(m.file.stat().st_size - 1)(m)),
        (DATA, "model.safetensors", lambda m: m.write(*m.read(), length=2 ** 62)),
        (DATA, "model.safetensors", lambda m: m.write(*m.read(), length=3)),
        (DATA, "JSON", lambda m: m.write(b"{" * 1000, b"")),
        (DATA, "overlaps|gap", shift(-4)),
        (DATA, "outside|gap", shift(2 ** 40)),
        (DATA, "shape", lambda m: m.tensor(shape=[2 ** 62, 8])),
        (DATA, "model.norm.weight", lambda m: m.tensor(shape=[8, 4])),
        (DATA, "dtype", lambda m: m.tensor(dtype="F8")),
        (DATA, "behind the last tensor|model.norm.weight", without_tensor),
        (DATA, "lora_A.weight", extra_tensor),
        (DATA, "not finite", not_finite),
        (FILE, "model.safetensors", lambda m: m.file.unlink()),
        (FILE, "gone.safetensors", shards({"model.norm.weight": "gone.safetensors"})),
        (DATA, "not a file name", shards({"model.norm.weight": "../up.safetensors"})),
        (DATA, "weight_map", shards(7)),
        (FILE, "config.json", lambda m: (m.dir / "config.json").unlink()),
        (DATA, "JSON", text_of("config.json", "{\"vocab_size\": ")),
        (DATA, "JSON", text_of("generation_config.json", "[]")),
        (DATA, "hidden_size", lambda m: m.config(drop=["hidden_size"])),
        (DATA, "mamba", lambda m: m.config(model_type="mamba")),
        (DATA, "quantiz", lambda m: m.config(quantization_config={})),
        (DATA, "longrope", lambda m: m.config(rope_scaling={"rope_type": "longrope"})),
        (DATA, "num_hidden_layers|layers", lambda m: m.config(num_hidden_layers=2 ** 31 - 1)),
        (DATA, "heads", lambda m: m.config(num_key_value_heads=3)),
        (DATA, "eos_token_id", lambda m: m.config(eos_token_id=100000)),
        (DATA, "eos_token_id", no_stop),
        (DATA, "layer_types is not a list of", hybrid(layer_types=["linear_attention"])),
        (DATA, "linear_num_value_heads is 0", hybrid(linear_num_value_heads=0)),
        (DATA, "lack tensor .*linear_attn", hybrid(full_attention_interval=2)),
        (CONFIG, "don't belong together", lambda m: m.config(
            vocab_size=300, eos_token_id=1) or (m.dir / "generation_config.json").unlink()
            or shrink(m)),
    ]
    for i, (status, words, change) in enumerate(changes):
        m = Model(f"model-{i:02d}")
        change(m)
        case(m.dir.name, status, words, job_text(model__path=m.dir))


def shrink(m):
    """The first 300 rows of the embedding: fewer than the tokenizer has."""
    header, data = m.read()
    names = sorted((k for k in header if k != "__metadata__"),
                   key=lambda k: header[k]["data_offsets"][0])
    now, at = b"", 0
    for k in names:
        t = header[k]
        lo, hi = t["data_offsets"]
        if k == "model.embed_tokens.weight":
            hi -= (t["shape"][0] - 300) * (hi - lo) // t["shape"][0]
            t["shape"][0] = 300
        now += data[lo:hi]
        t["data_offsets"] = [at, len(now)]
        at = len(now)
    m.write(header, now)


def tokenizers():
    def changed(**fields):
        return lambda t: t["model"].update(fields)
    texts = [
        (DATA, "tokenizer.json", lambda t: "{"),
        (DATA, "tokenizer.json", lambda t: "[" * 100000),
        (DATA, "Unigram", changed(type="Unigram")),
        (DATA, "not in the vocabulary", changed(merges=[["qqq", "zzz"]])),
        (DATA, "\"a\" is not an integer", changed(vocab={"a": -1})),
        (DATA, "expression", lambda t: t["pre_tokenizer"]["pretokenizers"][0].update(
            pattern={"Regex": "("})),
        (DATA, "normalizer|Lowercase", lambda t: t.update(normalizer={"type": "Lowercase"})),
        (DATA, "added", lambda t: t["added_tokens"][0].update(id=2 ** 40)),
    ]
    for i, (status, words, change) in enumerate(texts):
        folder = out / f"tokenizer-{i:02d}"
        folder.mkdir()
        t = json.loads((model / "tokenizer.json").read_text())
        text = change(t)
        (folder / "tokenizer.json").write_text(text if isinstance(text, str) else json.dumps(t))
        case(folder.name, status, words, job_text(model__tokenizer=folder))


def prompt_files():
    row = b'{"id": "a", "question": "q", "answer": "1"}\n'
    texts = [
        (DATA, "line 2", row + b"nonsense\n"),
        (DATA, "line 2", row + b"\n" + row),
        (DATA, "line 2.*answer", row + b'{"id": "b", "question": "q"}\n'),
        (DATA, "line 2.*answer", row + b'{"id": "b", "question": "q", "answer": 1}\n'),
        (DATA, "line 2", row + row),
        (DATA, "line 1", b'{"id": "\xff", "question": "q", "answer": "1"}\n'),
        (DATA, "prompt-06", b""),
        (DATA, "line 1", b"[" * 100000),
        (DATA, "every prompt", b'{"id": "a", "question": "' + b"1" * 999 + b'", "answer": "1"}\n'),
    ]
    for i, (status, words, text) in enumerate(texts):
        path = out / f"prompt-{i:02d}.jsonl"
        path.write_bytes(text)
        case(f"prompt-{i:02d}", status, words, job_text(data__train=path))


(out / "sound.ini").write_text(job_text())
jobs()
models()
tokenizers()
prompt_files()
