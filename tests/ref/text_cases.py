"""Make tests/ref/text/{tokenizer.json,encode.jsonl,split.jsonl,chat.jsonl} with Hugging Face's tokenizers and Jinja.

    python tests/ref/text_cases.py [DIR with Qwen3's tokenizer.json and tokenizer_config.json]

tokenizer.json   BpeTrainer on corpus.txt: 256 bytes and 144 merges, then added tokens of every kind
encode.jsonl     {variant, special, text, ids, back}: ids of random texts, under other pre-tokenizers too;
                 back = decode without special tokens, null where we differ on purpose
split.jsonl      {pattern, text, pieces}
chat.jsonl       {kind, system, user, text, ids}: Qwen3's own template; Qwen2.5's as written below;
                 ids = of the rendered text by Qwen3's tokenizer
"""
import json
import pathlib
import random
import sys

import jinja2
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers,
                        pre_tokenizers, trainers)

HERE = pathlib.Path(__file__).parent / "text"
QWEN2 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}"
          r"| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+")
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
LLAMA3 = QWEN2.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
# What Qwen2.5-*-Instruct's template does without tools; two messages at most here.
QWEN25_CHAT = """{%- if messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nYou are Qwen, created by Alibaba Cloud. You are a helpful assistant.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
{%- endif %}
"""


def byte_level(regex=False):
    return pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=regex)


def split(pattern):
    return pre_tokenizers.Split(Regex(pattern), "isolated")


def dense_words():
    """200 words of 12 letters a, b, c: a tokenizer trained on them knows nearly all pairs."""
    state, words = 1, []
    for _ in range(200):
        word = ""
        for _ in range(12):
            state = (state * 1103515245 + 12345) % 2**32
            word += "abc"[(state >> 16) % 3]
        words.append(word)
    return words


def train(texts):
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.NFC()
    t.pre_tokenizer = pre_tokenizers.Sequence([split(QWEN2), byte_level()])
    t.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    trainer = trainers.BpeTrainer(vocab_size=400, show_progress=False, special_tokens=[],
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    t.train_from_iterator(texts, trainer)
    return t


def fixture():
    t = train((HERE / "corpus.txt").read_text().split("\n"))
    t.add_special_tokens([AddedToken(x, normalized=False, special=True)
                          for x in ("<|endoftext|>", "<|im_start|>", "<|im_end|>")])
    t.add_tokens([AddedToken("<think>", normalized=False), AddedToken("</think>", normalized=False),
                  AddedToken("caf\u0065\u0301", normalized=True),  # found after NFC only
                  AddedToken("<|im_end|><", normalized=False),  # longer than a special one
                  AddedToken("two words", normalized=False)])
    t.add_special_tokens([AddedToken("[\u00dcber]", normalized=True, special=True)])
    t.save(str(HERE / "tokenizer.json"), pretty=False)


def variant(name):
    if name == "dense":
        return train(dense_words())
    t = Tokenizer.from_file(str(HERE / "tokenizer.json"))
    if name == "gpt2":
        t.pre_tokenizer = byte_level(True)
    elif name == "qwen3.5":
        t.pre_tokenizer = pre_tokenizers.Sequence([split(QWEN35), byte_level()])
    elif name == "llama3":
        d = json.loads(t.to_str())
        d["normalizer"] = None
        d["model"]["ignore_merges"] = True
        # A word that no merge makes, only the look-up of a whole piece.
        d["model"]["vocab"]["Ġxyz"] = 400
        for a in d["added_tokens"]:
            a["id"] += 1
        d["pre_tokenizer"]["pretokenizers"][0]["pattern"]["Regex"] = LLAMA3
        t = Tokenizer.from_str(json.dumps(d))
    elif name == "two":  # two expressions, one after the other, gaps in the first
        t.pre_tokenizer = pre_tokenizers.Sequence([split(r"\p{N}{1,3}"), split("[a-m]+|[n-z]"), byte_level()])
    return t


ATOMS = (list("aeinorst") + list(" \n\t.,'0123456789") +
         ["\r\n", "  ", "\n\n", " \n", "'s", "'LL", "'\u017f", "the ", "apples", " answer", "\\boxed{", "$x^2$",
          "ü", "u\u0308", "e\u0301", "\u1ea5", "a\u0302\u0301", "\u212b", "\u0958", "\uac00", "\u1100\u1161\u11a8",
          "\u0301", "\u0327\u0301", "中文", "，", "か\u3099", "🙂", "👩\u200d🔬", "\u180e", "\u0085", "\u00a0", "\u3000",
          "\u2028", "½", "²", "Ⅷ", "٣", "हिन्दी", "ไทย", "\u0300\u0301a", "ſ", "K", "ﬁ", "\u0000", "\u007f", "\ufffd",
          "<|im_end|>", "<|im_start|>", "<|im_end|><", "<think>", "</think>", "<|im_", "two words", "café",
          "cafe\u0301", "[Über]", "[U\u0308ber]", " xyz", "xyz"])


def encode_cases(rng):
    for name in ("base", "gpt2", "qwen3.5", "llama3", "two", "dense"):
        t = variant(name)
        for k in range(160 if name == "base" else 15 if name == "dense" else 50):
            text = "".join(rng.choices(ATOMS, k=rng.choice([1, 2, 3, 5, 8, 13])))
            if name == "dense":
                text = "".join(rng.choices("abc", k=20 * k))
            elif k == 0:
                text = "a" * 40 + "the answer" * 5 + "e" * 60 + "\u4e2d" * 30 + "!" * 61
            elif k == 1:  # one long word
                text = "".join(rng.choices(["he", "er", "re", "es", "st", "th", "answer", "s", "t", "e", "r", "o", "ng", "n",
                                            "ou", "ur", "as", "a", "l", "all", "ab", "in", "um"], k=900))
            for special in (True, False)[:1 if k < 2 else 2]:
                t.encode_special_tokens = not special
                ids = t.encode(text, add_special_tokens=False).ids
                yield {"variant": name, "special": special, "text": text, "ids": ids,
                       # The library decodes an added token's Latin-1 letters as bytes; we don't.
                       "back": None if t.token_to_id("cafe\u0301") in ids
                       else t.decode(ids, skip_special_tokens=True)}


def split_cases(rng):
    patterns = [QWEN2, QWEN35, LLAMA3, GPT2, r"\d+|\D", r"[\s.]+", r"x*", r"^.|[]a]$"]
    for pattern in patterns:
        for text in [" \u180e \u180ea", "\u0663\u0664 12\u00b2", "x\u00e9xx", "ab\n]\nca"] + [
                "".join(rng.choices(ATOMS, k=12)) for _ in range(12)]:
            pieces = split(pattern).pre_tokenize_str(text)
            yield {"pattern": pattern, "text": text, "pieces": [p for p, _ in pieces]}


def chat_cases(folder):
    folder = pathlib.Path(folder)
    t = Tokenizer.from_file(str(folder / "tokenizer.json"))
    env = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    qwen3 = env.from_string(json.loads((folder / "tokenizer_config.json").read_text())["chat_template"])
    kinds = {"qwen2.5": (env.from_string(QWEN25_CHAT), {}), "qwen3": (qwen3, {}),
             "qwen3-nothink": (qwen3, {"enable_thinking": False})}
    users = ["What is 1 + 1?", "\n\n  leading blanks and trailing ones \n", "Größe u\u0308ber 小明\r\n$x^2$", ""]
    for kind, (template, extra) in kinds.items():
        for system in ("", "Please reason step by step, and put your final answer within \\boxed{}."):
            for user in users:
                messages = [{"role": "system", "content": system}] * bool(system) + [{"role": "user", "content": user}]
                text = template.render(messages=messages, add_generation_prompt=True, **extra)
                yield {"kind": kind, "system": system, "user": user, "text": text,
                       "ids": t.encode(text, add_special_tokens=False).ids}


def save(name, rows):
    with open(HERE / name, "w") as out:
        for row in rows:
            out.write(json.dumps(row, ensure_ascii=True, separators=(",", ":")) + "\n")


fixture()
save("encode.jsonl", encode_cases(random.Random(7)))
save("split.jsonl", split_cases(random.Random(8)))
if len(sys.argv) > 1:
    save("chat.jsonl", chat_cases(sys.argv[1]))
