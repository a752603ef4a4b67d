#!/usr/bin/env bash
# The commands on real data: a trained model's log-probs, a real tokenizer's ids, a
# published prompt file.
. tests/cli/lib.sh
needs_data
stories=$data/weights/stories260K

# 48 greedy ids and their log-probs from a float64 forward.
jq -c '{ids: (.prompt_ids + .greedy_ids)}' "$stories/golden.json" >"$tmp/in"
ok "$dapo" score "$stories" --top 1 <"$tmp/in"
"$python" - "$stories/golden.json" "$tmp/out" <<'X'
import json, sys
want, got = json.load(open(sys.argv[1])), json.load(open(sys.argv[2]))
n = len(want["prompt_ids"])
assert [t[0][0] for t in got["top"][n - 1:-1]] == want["greedy_ids"]
for a, b, t in zip(got["logprobs"][n:], want["greedy_logprobs"], got["top"][n - 1:]):
    assert abs(a - b) < 1e-4 and t[0][1] == a
X
checks=$((checks + 1))
fails 74 'tokenizer.json' "$dapo" generate "$stories" --prompt 'Once upon a time'

jq -c '{text}' "$data/tokenizer/golden_qwen3.jsonl" >"$tmp/in"
jq -c '{ids}' "$data/tokenizer/golden_qwen3.jsonl" >"$tmp/want"
ok "$dapo" tokenize "$data/tokenizer" --special <"$tmp/in"
jq -c . "$tmp/out" >"$tmp/got"
same "$tmp/got" "$tmp/want"

ok "$dapo" prepare "$data/math/aime24.osr.jsonl" --out "$tmp/aime.jsonl"
has '^unique +30 '
passed
