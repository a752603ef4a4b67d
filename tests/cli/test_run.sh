#!/usr/bin/env bash
# A whole small run by one process: sft, train, then what inspect, export, generate and
# score make of it.  The exported weights are compared with what h5py reads.
. tests/cli/lib.sh
tiny_model "$tmp/m"
cat >"$tmp/job.ini" <<X
[run]
name = r
dir = $tmp/runs
steps = 2
save_every = 1
[model]
path = $tmp/m
init = random
[data]
train = $tmp/m-task/sft.jsonl
[prompt]
template = custom
custom = {user}
suffix = \s
max_tokens = 128
[rollout]
max_tokens = 24
slots = 8
[admission]
groups = 2
group_size = 4
max_multiplier = 2
dynamic = false
[reward]
overlong = off
[optimizer]
lr = 0.01
[sft]
batch = 4
out = $tmp/sft
X
ok "$dapo" sft "$tmp/job.ini"
ok "$dapo" train "$tmp/job.ini" --set "model.path=$tmp/sft" --set model.init=pretrained
run=$tmp/runs/r

ok "$dapo" inspect "$run"
has '^step files +2: 1-2$'
has '^checkpoints +2: 1-2$'
has '^resumes from +step 2$'
has '^setting +admission.group_size = 4$'
tokens=$(sed -n 's/^tokens  *\([0-9]*\)$/\1/p' "$tmp/out")
"$python" - "$run" "$tokens" <<'X'
import h5py, sys
run, said = sys.argv[1], int(sys.argv[2])
rows = sum(len(h5py.File(f"{run}/rollouts/step-{s:06d}.h5")["tokens/ids"]) for s in (1, 2))
assert rows == said > 0, (rows, said)
X
checks=$((checks + 1))
ok "$dapo" inspect "$run/rollouts/step-000002.h5"
has '^kind +step file$'
has '^completions +8$'
has '^closed by +full$'
has 'rollout/completion_tokens +[1-9]'
ok "$dapo" inspect "$run/checkpoints/step-000001.h5"
has '^step +1 done$'
has '^parameters +25888 in 26 tensors'
has '^tensor +model.layers.1.mlp.down_proj.weight +32 x 48$'
ok "$dapo" inspect "$tmp/sft"
has '^architecture +qwen2$'
has '^weights +25888 values of BF16 in 1 file$'
has '^stop id +319 <\|im_end\|>$'
ok "$dapo" inspect "$tmp/m"
has '^weights +none'

fails 74 "$tmp/none" "$dapo" inspect "$tmp/none"
fails 64 'too few' "$dapo" inspect
fails 65 'neither a run directory' "$dapo" inspect "$tmp"
fails 65 'not an HDF5 file' "$dapo" inspect "$tmp/job.ini"
fails 65 "index" "$dapo" inspect "$run/run.h5"
head -c 3000 "$run/checkpoints/step-000002.h5" >"$tmp/cut.h5"
fails 65 cut.h5 "$dapo" inspect "$tmp/cut.h5"
fails 65 cut.h5 "$dapo" export "$tmp/cut.h5" "$tmp/x"

# Export: f32 is the checkpoint's parameters bit for bit, bf16 rounds them to nearest.
ok "$dapo" export "$run" "$tmp/f32" --dtype f32
has 'step 2, 25888 parameters as f32'
ok "$dapo" export "$run/checkpoints/step-000002.h5" "$tmp/bf16" --model "$tmp/m"
ok "$dapo" export "$run/checkpoints/step-000001.h5" "$tmp/one"
"$python" - "$run/checkpoints/step-000002.h5" "$tmp/f32" "$tmp/bf16" <<'X'
import h5py, json, numpy as np, sys
h = h5py.File(sys.argv[1])
params = h["params"][:]
def weights(folder):
    b = open(folder + "/model.safetensors", "rb").read()
    n = int.from_bytes(b[:8], "little")
    head = json.loads(b[8:8 + n])
    head.pop("__metadata__", None)
    for name, t in head.items():
        lo, hi = t["data_offsets"]
        raw = b[8 + n + lo:8 + n + hi]
        if t["dtype"] == "F32":
            yield name, t["shape"], np.frombuffer(raw, "<f4")
        else:
            yield name, t["shape"], (np.frombuffer(raw, "<u2").astype("<u4") << 16).view("<f4")
t = h["tensors"]
at = {n.decode(): (f, r * c, [c] if v else [r, c]) for n, f, r, c, v in
      zip(t["name"], t["first"], t["rows"], t["cols"], t["vector"])}
for folder, tol in (sys.argv[2], 0), (sys.argv[3], 2.0 ** -8):
    seen = set()
    for name, shape, x in weights(folder):
        first, n, want = at[name]
        p = params[first:first + n]
        assert list(shape) == list(want) and (np.abs(x - p) <= tol * np.abs(p)).all(), name
        seen.add(name)
    assert seen == set(at)
X
checks=$((checks + 1))
! cmp -s "$tmp/one/model.safetensors" "$tmp/bf16/model.safetensors" || die "steps alike"
same "$tmp/m/tokenizer.json" "$tmp/bf16/tokenizer.json"
fails 65 'is a step file, not a checkpoint' "$dapo" export "$run/rollouts/step-000001.h5" "$tmp/x"
fails 65 "not those of the model" "$dapo" export "$run" "$tmp/x" --model tests/ref/models/qwen2
fails 74 "$tmp/none" "$dapo" export "$run" "$tmp/x" --model "$tmp/none"
fails 64 '--dtype f16' "$dapo" export "$run" "$tmp/x" --dtype f16
fails 64 'too few' "$dapo" export "$run"
[ ! -e "$tmp/x" ] || die "a failed export left a folder"

# One changed value is noticed.
"$python" - "$run/checkpoints/step-000002.h5" "$tmp/bad.h5" <<'X'
import h5py, shutil, sys
shutil.copy(sys.argv[1], sys.argv[2])
with h5py.File(sys.argv[2], "r+") as h:
    h["params"][25000] += 1
X
ok "$dapo" inspect "$tmp/bad.h5"
fails 65 'bad.h5: its weights are damaged' "$dapo" export "$tmp/bad.h5" "$tmp/x"

# Greedy generation follows score's likeliest tokens, and its log-probs are the same.
ok "$dapo" generate "$tmp/f32" --prompt 'Tom has 3' --max-tokens 12 --temperature 0 --json
cp "$tmp/out" "$tmp/greedy"
echo '"Tom has 3"' | "$dapo" tokenize "$tmp/f32" >"$tmp/prompt"
jq -s -c '{ids: (.[0].ids + .[1].ids)}' "$tmp/prompt" "$tmp/greedy" >"$tmp/in"
ok "$dapo" score "$tmp/f32" --top 1 <"$tmp/in"
n=$(jq '.ids | length' "$tmp/prompt")
m=$(jq '.ids | length' "$tmp/greedy")
jq -c "[.top[$n - 1:$n - 1 + $m][][0][0]], .logprobs[$n:]" "$tmp/out" >"$tmp/want"
jq -c '.ids, .logprobs' "$tmp/greedy" >"$tmp/got"
same "$tmp/got" "$tmp/want"

# The text, from standard input too, streamed or not; samples differ; seeds repeat.
jq -r .text "$tmp/greedy" >"$tmp/want"
echo 'Tom has 3' >"$tmp/in"
ok "$dapo" generate "$tmp/f32" --max-tokens 12 --temperature 0 <"$tmp/in"
same "$tmp/out" "$tmp/want"
ok "$dapo" generate "$tmp/f32" --prompt hi --template qwen2.5 --system be --max-tokens 9 -n 3 --json
[ "$(jq -c .ids "$tmp/out" | sort -u | wc -l)" -eq 3 ] || die "equal samples"
cp "$tmp/out" "$tmp/first"
ok "$dapo" generate "$tmp/f32" --prompt hi --template qwen2.5 --system be --max-tokens 9 -n 3 --json
same "$tmp/out" "$tmp/first"
ok "$dapo" generate "$tmp/f32" --prompt hi --template qwen2.5 --system be --max-tokens 9 -n 3 --json --seed 7
! cmp -s "$tmp/out" "$tmp/first" || die "the seed has no effect"
# Qwen2.5's template spelled out is Qwen2.5's template.
ok "$dapo" generate "$tmp/f32" --prompt hi --system be --max-tokens 9 -n 3 --json --custom \
    $'<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n'
same "$tmp/out" "$tmp/first"
ok "$dapo" generate "$tmp/f32" --prompt hi --max-tokens 5 -n 2
has '^--- 2 of 2: '

fails 65 'room for' "$dapo" generate "$tmp/f32" --prompt hi --max-tokens 256
fails 65 'prompt is empty' "$dapo" generate "$tmp/f32" --prompt ''
fails 64 'no place for a system text' "$dapo" generate "$tmp/f32" --prompt hi --system x
fails 64 'no \{user\}' "$dapo" generate "$tmp/f32" --prompt hi --custom x
fails 64 'exclude' "$dapo" generate "$tmp/f32" --prompt hi --custom '{user}' --template qwen3
fails 64 '--template chatml' "$dapo" generate "$tmp/f32" --prompt hi --template chatml
fails 64 '--top-p 0' "$dapo" generate "$tmp/f32" --prompt hi --top-p 0
fails 64 'unknown option --temprature' "$dapo" generate "$tmp/f32" --prompt hi --temprature=1
full() { "$dapo" generate "$tmp/f32" --prompt hi --max-tokens 5 >/dev/full; }
fails 74 "standard output can't be written" full
passed
