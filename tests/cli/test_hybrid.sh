#!/usr/bin/env bash
# test_hybrid.sh - a model with linear attention (Qwen3.5) in whole jobs: the invariants
# that its states beside the cache could break, and what is exported.
. tests/cli/lib.sh
coin_job "$tmp/c" hybrid
dapo=$(realpath "$dapo")
runs=$tmp/c/runs
cd "$tmp/c/in"

# run NAME RANKS STEPS [--set ...]
run() {
    local name=$1 ranks=$2 steps=$3
    shift 3
    ok on "$ranks" "$dapo" train "$tmp/c/job.ini" --set run.name="$name" \
        --set run.steps="$steps" --set run.keep=0 --set data.eval= --set rollout.slots=7 "$@"
}

run one 1 3
run three 3 3
echo "invariants 1, 2, 4, 8, 10: ranks and batching change no trained bit"
compare trained,tokens,ledger,weights "$runs/one" "$runs/three"
run narrow 3 3 --set rollout.slots=2 --set rollout.slice=1 --set rollout.prefill_chunk=3
compare trained,tokens,ledger,weights "$runs/one" "$runs/narrow"

echo "invariant 6: resuming equals not stopping"
run halves 3 1
run halves 3 3
compare trained,tokens,ledger,weights,metrics "$runs/three" "$runs/halves"
run carried 3 4 --set admission.surplus=resume --set rollout.slice=1
run carried_halves 3 2 --set admission.surplus=resume --set rollout.slice=1
run carried_halves 3 4 --set admission.surplus=resume --set rollout.slice=1
compare trained,tokens,ledger,weights,metrics "$runs/carried" "$runs/carried_halves"

echo "invariant 5: the first ratio is one, in bf16 and on the checking backend too"
run bf16 2 1 --set model.compute=bf16
run checked 2 1 --set model.backend=check:cpu
"$python" - "$runs" <<'END' || die "a first ratio is not one"
import glob, sys, h5py
files = [n for n in glob.glob(sys.argv[1] + "/*/rollouts/*.h5") if "carried" not in n and "adapter" not in n]
assert len(files) == 14, len(files)
for name in files:
    with h5py.File(name) as f:
        assert f["metrics/ppo/first_max_abs_log_ratio"][()] == 0.0, name
        assert f["metrics/ppo/train_tokens"][()] > 0, name
        assert f["metrics/train/grad_norm"][()] > 0, name
END
checks=$((checks + 1))

echo "an adapter on all matrices, those of linear attention too"
run adapter 1 2 --set lora.rank=4
run adapter3 3 2 --set lora.rank=4
compare trained,tokens,ledger,weights "$runs/adapter" "$runs/adapter3"
ok "$dapo" export "$runs/adapter" "$tmp/adapter" --adapter
grep -q '"in_proj_qkv"' "$tmp/adapter/adapter_config.json" || die "no in_proj_qkv"

echo "what is exported is the text model alone, and generates the same"
ok "$dapo" export "$runs/one" "$tmp/out1"
grep -q '"Qwen3_5ForCausalLM"' "$tmp/out1/config.json" || die "not a text model's config.json"
grep -q '"layer_types"\|"full_attention_interval"' "$tmp/out1/config.json" || die "no kinds"
ok "$dapo" inspect "$tmp/out1"
has '^architecture +qwen3_5_text$'
has '^linear attention +2 of the layers, convolution over 4$'
ok "$dapo" generate "$tmp/out1" --custom '{user}' --temperature 0 --max-tokens 8 \
    --prompt 'Toss 5: 0 or 1?'
ok "$dapo" inspect "$tmp/c/m"
has '^architecture +qwen3_5_text, of a model with vision, which is left out$'
passed
