#!/usr/bin/env bash
# dapo prepare: counts on a small file, the same bytes again, the arithmetic task.
. tests/cli/lib.sh

cat >"$tmp/raw.jsonl" <<'X'
{"question": "What is 1+1?", "answer": "2", "id": "a"}
{"question": "What  is 1+1?", "answer": "2", "id": "b"}
{"question": "What is 2+2?", "answer": "4"}
{"question": "What is 3+3?", "answer": "6"}
{"question": "What is 3+3?", "answer": "7"}
{"question": "What is 4+4?", "answer": ""}
{"prompt": [{"role": "user", "content": "What is 5+5?"}], "reward_model": {"ground_truth": "10"}, "extra_info": {"index": "e"}}
X
ok "$dapo" prepare "$tmp/raw.jsonl" --out "$tmp/train.jsonl" --dev "$tmp/dev.jsonl" --dev-rows 1
for count in 'rows +7' 'invalid +1' 'duplicates +1' 'conflicting_questions +1' \
    'conflicting_rows +2' 'unique +3' 'train +2' 'dev +1'; do
    has "^$count "
done
cat "$tmp/train.jsonl" "$tmp/dev.jsonl" | jq -c '[.question, .answer]' | sort >"$tmp/got"
cat >"$tmp/want" <<'X'
["What is 1+1?","2"]
["What is 2+2?","4"]
["What is 5+5?","10"]
X
same "$tmp/got" "$tmp/want"
[ "$(jq .counts.unique "$tmp/train.jsonl.manifest.json")" = 3 ] || die manifest
ok "$dapo" prepare --manifest "$tmp/m.json" --out="$tmp/again.jsonl" "$tmp/raw.jsonl" \
    --dev "$tmp/dev2.jsonl" --dev-rows 1
same "$tmp/train.jsonl" "$tmp/again.jsonl"
same "$tmp/dev.jsonl" "$tmp/dev2.jsonl"
[ -s "$tmp/m.json" ] || die "no manifest where it was asked for"

fails 64 'needs --out FILE' "$dapo" prepare "$tmp/raw.jsonl"
fails 64 'too few arguments' "$dapo" prepare --out "$tmp/x"
fails 64 '--dev-rows 0' "$dapo" prepare "$tmp/raw.jsonl" --out "$tmp/x" --dev-rows 0
fails 64 'unknown option --devrows' "$dapo" prepare "$tmp/raw.jsonl" --out "$tmp/x" --devrows
fails 65 'usable questions' "$dapo" prepare "$tmp/raw.jsonl" --out "$tmp/x" --dev "$tmp/y"
fails 74 "$tmp/none" "$dapo" prepare "$tmp/none" --out "$tmp/x"
fails 74 "$tmp/none/x" "$dapo" prepare "$tmp/raw.jsonl" --out "$tmp/none/x"
[ ! -e "$tmp/x" ] || die "a failed preparation left a file"

# Parquet goes to the Python of `make deps`, where there is one above the program.
mkdir -p "$tmp/repo/build/release" "$tmp/repo/build/venv/bin" "$tmp/repo/analysis"
cp -L "$dapo" "$tmp/repo/build/release/dapo"
: >"$tmp/repo/analysis/parquet_rows.py"
cat >"$tmp/repo/build/venv/bin/python" <<'X'
#!/bin/sh
echo '{"question": "q", "answer": "1"}'
X
chmod +x "$tmp/repo/build/venv/bin/python"
printf PAR1 >"$tmp/in.parquet"
ok env -u DAPO_PYTHON "$tmp/repo/build/release/dapo" prepare "$tmp/in.parquet" \
    --out "$tmp/rows.jsonl"
has '^train +1 '

task() { # DIR SEED OPTIONS...
    local dir=$1 seed=$2
    shift 2
    "$dapo" prepare --task arithmetic --out "$dir" --seed "$seed" --train 200 --eval 50 \
        --sft 100 --model "$dir/m" "$@"
}
ok task "$tmp/a" 1
has 'eval.jsonl +50 problems, held out'
ok task "$tmp/b" 1
ok task "$tmp/c" 2
for f in train.jsonl eval.jsonl sft.jsonl m/tokenizer.json m/config.json \
    m/generation_config.json; do
    same "$tmp/a/$f" "$tmp/b/$f"
done
! cmp -s "$tmp/a/train.jsonl" "$tmp/c/train.jsonl" || die "the seed has no effect"

"$python" - "$tmp/a" <<'X'
"""The files hold what they promise; answers follow from the questions' numbers."""
import json, re, sys
d = sys.argv[1]
rows = {n: [json.loads(x) for x in open(f"{d}/{n}.jsonl")] for n in ("train", "eval", "sft")}
assert [len(rows[n]) for n in ("train", "eval", "sft")] == [200, 50, 100]
for r in rows.values():
    assert len({x["id"] for x in r}) == len({x["question"] for x in r}) == len(r)
question = {n: {x["question"] for x in r} for n, r in rows.items()}
assert not question["eval"] & (question["train"] | question["sft"])
assert not any("solution" in x for n in ("train", "eval") for x in rows[n])
for x in rows["sft"]:
    steps = re.findall(r"(\d+)([-+*])(\d+)=(\d+)\.", x["solution"])
    assert 2 <= len(steps) <= 4
    for a, op, b, c in steps:
        assert {"+": int(a) + int(b), "-": int(a) - int(b), "*": int(a) * int(b)}[op] == int(c)
    assert x["solution"].endswith("\\boxed{%s}" % x["answer"]) and steps[-1][3] == x["answer"]
tok = json.load(open(d + "/m/tokenizer.json"))
added = {x["content"]: x["id"] for x in tok["added_tokens"]}
assert list(added) == ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
assert max(added.values()) == 319
c = json.load(open(d + "/m/config.json"))
assert c["vocab_size"] == 320 and c["tie_word_embeddings"] is True
assert (c["hidden_size"], c["num_hidden_layers"], c["intermediate_size"]) == (128, 4, 384)
g = json.load(open(d + "/m/generation_config.json"))
assert g["eos_token_id"] == [added["<|im_end|>"], added["<|endoftext|>"]]
X
checks=$((checks + 1))
ok task "$tmp/d" 1 --steps 1 --vocab 300 --dim 64 --heads 2 --kv-heads 1 --ffn 96 --layers 1
[ "$(jq -r '.solution' "$tmp/d/sft.jsonl" | grep -o '=' | wc -l)" -eq 100 ] || die "--steps 1"
[ "$(jq .vocab_size "$tmp/d/m/config.json")" = 320 ] || die "padding to 64"

fails 64 'needs --out DIR' "$dapo" prepare --task arithmetic
fails 64 '--task algebra: want arithmetic' "$dapo" prepare --task algebra --out "$tmp/e"
fails 64 '--steps 6' task "$tmp/e" 1 --steps 6
fails 64 '--dim 63 is not a multiple' task "$tmp/e" 1 --dim 63
fails 64 'heads' task "$tmp/e" 1 --kv-heads 3
fails 64 'needs --model' "$dapo" prepare --task arithmetic --out "$tmp/e" --layers 2
passed
