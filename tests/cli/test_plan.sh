#!/usr/bin/env bash
# dapo plan: numbers computed by hand, and jobs that can't fit.
. tests/cli/lib.sh
tiny_model "$tmp/m"
cat >"$tmp/job.ini" <<X
[run]
steps = 100
save_every = 10
[model]
path = $tmp/m
[prompt]
max_tokens = 128
[rollout]
max_tokens = 48
slots = 8
[admission]
groups = 2
group_size = 4
max_multiplier = 3
[reward]
overlong_cache = 16
answer_window = 10
[optimizer]
microbatch_tokens = 1000
updates_per_step = 2
X
ok "$dapo" plan "$tmp/job.ini"
has '^parameters +25888$'
has '^ranks +1 learning, 1 generating$'
has '^batch +2 groups, 8 completions, 2 updates$'
has '^candidates +at most 6, 24 completions$'
has '^tokens trained +at most 384 a step$'    # 8 * 48
has '^tokens generated +at most 1152 a step$' # 24 * 48
# Pages of 16 tokens: 8 for the prompt but for its last token, 4 for the member; for 8
# slots and one group ahead 9 * 12 = 108.  2 (keys, values) * 4 bytes * 2 layers * 108 *
# 16 * 2 heads of 8 = 442,368 bytes.
has '^  KV cache +432.00 KiB'
# Floats per row: a layer 2*32 + 2*32 + 2*16 + 2*48 + 2 + 2*4 + 2 = 268; forward 2 * 268 +
# 2*32 + 48 = 648; backward 2*32, then the wider of the MLP's 2*48 and the attention's 2*32
# + 3*16 = 112.  4 * (1000 * 824 + 128 * (3*32 + 1 + 320)) = 3,509,504 bytes.
has '^  activations +3.35 MiB'
# Masters and packed copies 8, gradient and moments 12 bytes each of 25,888; the batch 8 *
# 8 * 176: 517,760 + 3,509,504 + 11,264 = 4,038,528.
has '^learner rank +3.85 MiB'
# 8 * 25,888 + the cache + 4 * (264 rows * (268 + 2*32 + 48) + 8 * (2*32 + 320)) + 12 * 24 *
# 48 = 207,104 + 442,368 + 413,568 + 13,824 = 1,076,864.
has '^rollout rank +1.03 MiB'
# 65,536 + 80 * 6 + 24 * (104 + 40 + 8 * 48) = 78,688.
has '^step file +76.84 KiB'
has '^checkpoint +1.30 MiB' # 12 * 25,888 + 2^20
# 100 step files and 3 checkpoints kept, one more while a new one is written; with those of
# every 20th step 9 of them, and 11 where all are kept.
has '^run on disk +12.69 MiB'
ok "$dapo" plan "$tmp/job.ini" --set run.keep_every=20
has '^run on disk +19.17 MiB'
ok "$dapo" plan "$tmp/job.ini" --set run.keep=0
has '^run on disk +21.76 MiB'

# One rank is both: 4,038,528 + 442,368 + 413,568 + 12 * 24 * 48 = 4,908,288.
ok "$dapo" plan "$tmp/job.ini" --ranks 1
has '^ranks +1, learning and generating in turn$'
has '^learner rank +4.68 MiB'
has '^rollout rank +4.68 MiB'
# Overlap keeps the weights of before the step: 4 * 25,888 bytes more in both.
ok "$dapo" plan "$tmp/job.ini" --set train.max_staleness=1
has '^learner rank +3.95 MiB'
has '^rollout rank +1.03 MiB'
has '^checkpoint +1.40 MiB' # 16 * 25,888 + 2^20
fails 78 'max_staleness = 1 needs a rank that only generates' "$dapo" plan "$tmp/job.ini" \
    --set train.max_staleness=1 --ranks 1
ok "$dapo" plan "$tmp/job.ini" --ranks 4 --set admission.dynamic=false
has '^ranks +1 learning, 3 generating$'
has '^candidates +at most 2, 8 completions$'
ok "$dapo" plan "$tmp/job.ini" --set model.compute=bf16 --set loss.kl_coef=0.1
# Packed 2 + 2 bytes; the reference 4 + 2: 4,038,528 + 6 * 25,888 = 4,193,856.
has '^learner rank +4.00 MiB'

# An adapter of rank 4 on all matrices of both layers, counted by hand: 4 * (32+32 + 2 *
# (16+32) + 32+32 + 3 * (32+48)) = 1,856 a layer; it is added to 2 * (2 * 32*32 + 2 * 16*32 +
# 3 * 32*48) = 15,360 values.  8 * 25,888 + 4 * 15,360 + 8 * 3,712 + 12 * 3,712 + 3,509,504 +
# 11,264 = 3,863,552; the base is the reference, so KL costs nothing more.
ok "$dapo" plan "$tmp/job.ini" --set lora.rank=4 --set loss.kl_coef=0.1
has '^parameters +25888$'
has '^trained +3712, an adapter of rank 4 on 15360$'
has '^learner rank +3.68 MiB'
has '^rollout rank +1.11 MiB' # 4 * 15,360 + 8 * 3,712 more
has '^checkpoint +1.04 MiB'   # 12 * 3,712 + 2^20
fails 78 'rank 33 is over the 32 x 32' "$dapo" plan "$tmp/job.ini" --set lora.rank=33
ok "$dapo" plan "$tmp/job.ini" --set lora.rank=33 --set lora.targets=up_proj,down_proj
fails 78 '"head" is no matrix' "$dapo" plan "$tmp/job.ini" --set lora.rank=4 \
    --set lora.targets=q_proj,head

# Groups that go on have 16 bytes more a candidate, 8 a completion and 4 a token: 78,688 +
# 16 * 6 + 24 * (8 + 4 * 48) = 83,584.
ok "$dapo" plan "$tmp/job.ini" --set admission.surplus=resume
has '^step file +81.62 KiB'
ok "$dapo" plan "$tmp/job.ini" --set admission.strict=true
has '^candidates +no bound .* = 6, 24 completions$'

fails 78 'learner rank needs 0.00376. GiB and has 0.0037 GiB' \
    "$dapo" plan "$tmp/job.ini" --memory 0.0037
ok "$dapo" plan "$tmp/job.ini" --memory 0.0038
fails 78 'rollout rank needs .* rollout.slots' \
    "$dapo" plan "$tmp/job.ini" --memory 0.01 --set rollout.slots=4096
fails 78 'leaves no rank to generate' \
    "$dapo" plan "$tmp/job.ini" --set ranks.learners=2 --ranks 2
fails 78 'max_position_embeddings = 256' \
    "$dapo" plan "$tmp/job.ini" --set prompt.max_tokens=209
fails 78 'kv_tokens = 176 .* needs 192' "$dapo" plan "$tmp/job.ini" --set rollout.kv_tokens=176
ok "$dapo" plan "$tmp/job.ini" --set rollout.kv_tokens=192
fails 74 'model directory is missing here' \
    "$dapo" plan "$tmp/job.ini" --set "model.path=$tmp/none"
ok "$dapo" plan "$tmp/job.ini" --set "model.path=$tmp/none" --config "$tmp/m"
has '^parameters +25888$'
# The published run's settings with Qwen2.5-32B's hyperparameters: 65,527,752,704 bytes of
# bf16 in its index file, so half as many parameters.
mkdir "$tmp/32b"
cat >"$tmp/32b/config.json" <<X
{"architectures": ["Qwen2ForCausalLM"], "model_type": "qwen2", "vocab_size": 152064,
 "hidden_size": 5120, "num_hidden_layers": 64, "num_attention_heads": 40,
 "num_key_value_heads": 8, "intermediate_size": 27648, "max_position_embeddings": 131072,
 "rms_norm_eps": 1e-05, "rope_theta": 1000000.0, "hidden_act": "silu",
 "tie_word_embeddings": false, "use_sliding_window": false, "eos_token_id": 151643}
X
for job in jobs/*_32b.ini; do
    ok "$dapo" plan "$job" --config "$tmp/32b" --ranks 128
    has '^parameters +32763876352$'
    has '^sequence +at most 2048 tokens of prompt, 20480 of completion$'
    fails 78 'learner rank needs' "$dapo" plan "$job" --config "$tmp/32b" --memory 80
done
# Qwen3.5-4B as transformers counts it.  Every 4th of 32 layers has keys and values of 4
# heads of 256: 8 slots and a group ahead are 9 * 12 pages of 16, 2 * 4 * 8 * 1,728 * 1,024 =
# 113,246,208 bytes.  The others have states, 8 for slots and 2 for prompts: 32 heads of
# 128 * 128 and 3 inputs of (2 * 16 + 32) * 128, 4 * 24 * 10 * 548,864 = 526,909,440.
mkdir "$tmp/4b"
cat >"$tmp/4b/config.json" <<X
{"architectures": ["Qwen3_5ForConditionalGeneration"], "model_type": "qwen3_5",
 "tie_word_embeddings": true, "vision_config": {}, "text_config": {
 "model_type": "qwen3_5_text", "vocab_size": 248320, "hidden_size": 2560,
 "num_hidden_layers": 32, "num_attention_heads": 16, "num_key_value_heads": 4,
 "head_dim": 256, "intermediate_size": 9216, "max_position_embeddings": 262144,
 "rms_norm_eps": 1e-06, "hidden_act": "silu", "attention_bias": false,
 "linear_num_key_heads": 16, "linear_num_value_heads": 32, "linear_key_head_dim": 128,
 "linear_value_head_dim": 128, "linear_conv_kernel_dim": 4, "full_attention_interval": 4,
 "attn_output_gate": true, "eos_token_id": 248044, "tie_word_embeddings": true,
 "rope_parameters": {"rope_type": "default", "rope_theta": 10000000,
 "partial_rotary_factor": 0.25, "mrope_section": [11, 11, 10]}}}
X
ok "$dapo" plan "$tmp/job.ini" --config "$tmp/4b"
has '^parameters +4205751296$'
has '^  KV cache +610.50 MiB'
fails 78 'model.path is not set' "$dapo" plan "$tmp/job.ini" --set model.path=
fails 74 'config.json' "$dapo" plan "$tmp/job.ini" --config "$tmp"
fails 74 '--config .*none: ' "$dapo" plan "$tmp/job.ini" --config "$tmp/none"
fails 64 '--ranks 0' "$dapo" plan "$tmp/job.ini" --ranks 0
fails 64 '--memory lots' "$dapo" plan "$tmp/job.ini" --memory lots
fails 64 'needs a job file' "$dapo" plan
passed
