#!/usr/bin/env bash
# test_real.sh - DAPO-Math-17k, the real Qwen tokenizer and a random Qwen2 model with its
# vocabulary of 151,936 start and run steps.
. tests/cli/lib.sh
needs_data
parquet=$data/math/dapo_math_17k.svs.parquet
"${DAPO_PYTHON:-build/venv/bin/python}" -c 'import pyarrow' 2>/dev/null || {
    echo "skipped: $name: no pyarrow (make deps installs it)"
    exit 77
}
export DAPO_PYTHON=${DAPO_PYTHON:-build/venv/bin/python}
ok "$dapo" prepare "$parquet" --out "$tmp/math.jsonl" --dev "$tmp/dev.jsonl"

mkdir "$tmp/model"
cat >"$tmp/model/config.json" <<'END'
{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "hidden_size": 64,
 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
 "intermediate_size": 128, "vocab_size": 151936, "max_position_embeddings": 4096,
 "rms_norm_eps": 1e-6, "rope_theta": 1000000.0, "tie_word_embeddings": true,
 "hidden_act": "silu", "eos_token_id": [151645, 151643], "torch_dtype": "float32"}
END
cat >"$tmp/job.ini" <<'END'
[model]
init = random
[rollout]
max_tokens = 24
slots = 8
[reward]
grader = dapo
overlong_cache = 8
[admission]
groups = 2
group_size = 4
max_multiplier = 2
[run]
steps = 2
END
# shellcheck disable=SC2086 # MPIRUN is a command line
ok timeout -k 5 200 ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n 3 \
    "$dapo" train "$tmp/job.ini" --set run.dir="$tmp/runs" --set model.path="$tmp/model" \
    --set model.tokenizer="$data/tokenizer" --set data.train="$tmp/math.jsonl"
grep -q 'prompts=17126 ' "$tmp/err" || die "$(cat "$tmp/err")"
grep -q 'done steps=2' "$tmp/err" || die "$(cat "$tmp/err")"
grep -o 'load_seconds=[0-9.]*' "$tmp/err"
passed
