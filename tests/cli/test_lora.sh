#!/usr/bin/env bash
# test_lora.sh - whole runs that train an adapter: the same invariants as of a run that
# trains the model, what they refuse, and that all forms of an adapter are one function.
. tests/cli/lib.sh

ok "$dapo" prepare --task arithmetic --out "$tmp/task" --train 200 --eval 20 --sft 40 --seed 3
runs=$tmp/runs
base=jobs/demo/model

# job NAME [--set ...]: the command of a run of three steps of four groups of six, two
# updates each, in $command.
job() {
    local name=$1
    shift
    command=("$dapo" train jobs/demo_dapo.ini
        --set run.dir="$runs" --set run.name="$name" --set run.steps=3
        --set run.save_every=1 --set run.keep=0 --set run.log=warn
        --set data.train="$tmp/task/train.jsonl" --set data.eval=
        --set admission.groups=4 --set admission.group_size=6 --set rollout.slots=7
        --set optimizer.updates_per_step=2 --set optimizer.lr=1e-3 --set lora.rank=8 "$@")
}
run() {
    local ranks=$2
    job "$1" "${@:3}"
    ok on "$ranks" "${command[@]}"
}

run one 1
run two 2
run three 3
for other in two three; do
    compare trained,tokens,ledger,weights "$runs/one" "$runs/$other"
done
run learners 3 --set ranks.learners=2 --set run.steps=1 --set optimizer.updates_per_step=1 \
    --set optimizer.microbatch_tokens=300
run alone 1 --set run.steps=1 --set optimizer.updates_per_step=1
compare trained,tokens,ledger,near "$runs/alone" "$runs/learners"

echo "first ratios are one; what is published and kept is the adapter, which has changed"
"$python" - "$runs" <<'END' || die "a first ratio, a checksum or a size"
import glob, sys, h5py
names = glob.glob(sys.argv[1] + "/*/rollouts/*.h5")
assert len(names) == 11, len(names)
for name in names:
    with h5py.File(name) as f, h5py.File(name.replace("rollouts", "checkpoints")) as k:
        m = lambda x: f["metrics/" + x][()]
        assert m("ppo/first_max_abs_log_ratio") == 0 and m("ppo/train_tokens") > 0, name
        low, high = (int(m("train/published_checksum_" + x)) for x in ("low", "high"))
        assert high << 32 | low == int(k["checksums/params"][0]), name
        # 4 layers, rank 8: q 128 + 128, k and v 128 + 64, o 128 + 128, ffn 3 (128 + 384)
        assert k["params"].size == 4 * 8 * (2 * 256 + 2 * 192 + 3 * 512), k["params"].size
        assert k["tensors/name"][1].endswith(b"layers.0.self_attn.q_proj.lora_B.weight")
        first = k["tensors/first"][:]
        assert (k["params"][first[1]:first[2]] != 0).any(), name
END
checks=$((checks + 1))

echo "stopped or killed and resumed: the same bits; overlap too"
run halves 3 --set run.steps=1
run halves 3
compare trained,tokens,ledger,weights,metrics "$runs/three" "$runs/halves"
job killed
on 3 "${command[@]}" >"$tmp/out" 2>"$tmp/err" &
pid=$!
until_file "$runs/killed/checkpoints/step-000001.h5" "$pid"
# The rank itself: its command line names the run.
victim=$(pgrep -f "^$dapo train .*run.dir=$runs .*run.name=killed" | sed -n 2p)
[ -z "$victim" ] || kill -9 "$victim"
wait "$pid" || true
run killed 3
compare trained,tokens,ledger,weights "$runs/three" "$runs/killed"
run ahead 2 --set train.max_staleness=1
run ahead2 2 --set train.max_staleness=1 --set run.steps=2
run ahead2 2 --set train.max_staleness=1
compare trained,tokens,ledger,weights "$runs/ahead" "$runs/ahead2"

echo "another base, a whole model and other adapters are refused"
cp -r "$base" "$tmp/other"
printf '\001' | dd of="$tmp/other/model.safetensors" bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s "$base/model.safetensors") - 6))
no() { # PATTERN NAME [--set ...]
    job "$2" "${@:3}"
    fails 78 "$1" "${command[@]}" --set run.log=error
}
no 'holds another base model than' one --set model.path="$tmp/other"
no 'other settings .*lora.rank' one --set lora.rank=0
no 'other settings .*lora.alpha' one --set lora.alpha=8
no 'other settings .*lora.targets' one --set lora.targets=q_proj
no '"embed_tokens" is no matrix' none --set lora.targets=q_proj,embed_tokens
no 'rank 129 is over the 128 x 128 of "model.layers.0.self_attn.q_proj' none --set lora.rank=129
run full 1 --set lora.rank=0 --set run.steps=1
no 'other settings .*lora.rank' full
fails 64 'holds a whole model' "$dapo" export --adapter "$runs/full" "$tmp/x"
fails 65 'not trained on the weights in' "$dapo" export --model "$tmp/other" "$runs/one" "$tmp/x"

echo "merged, as an adapter of PEFT and in the run itself it is the same function"
checkpoint=$runs/one/checkpoints/step-000002.h5
ok "$dapo" export "$checkpoint" "$tmp/merged" --dtype f32
ok "$dapo" export --adapter "$checkpoint" "$tmp/adapter"
ok "$dapo" inspect "$checkpoint"
has '^adapter +rank 8, alpha 16, targets all, base checksum [0-9a-f]{16}$'
ok "$dapo" inspect "$tmp/adapter"
has '^adapter +rank 8, alpha 16$'
"$python" - "$runs/one/rollouts/step-000003.h5" "$tmp" "$dapo" "$base" <<'END' || die "scores"
import json, subprocess, sys, h5py
step, tmp, dapo, base = sys.argv[1:]
rows = [json.loads(x)["question"] for x in open(tmp + "/task/train.jsonl")]
text = "".join(json.dumps(f"<|im_start|>{q}<|im_end|>") + "\n" for q in rows)
said = lambda command, text: [json.loads(x) for x in subprocess.run(
    command, input=text, text=True, check=True, stdout=subprocess.PIPE).stdout.splitlines()]
prompts = [x["ids"] for x in said([dapo, "tokenize", base, "--special"], text)]
with h5py.File(step) as f:
    prompt = dict(zip(f["candidates/index"][:], f["candidates/prompt_id"][:]))
    at = f["tokens/completion_offset"][:]
    ids, logp = f["tokens/ids"][:], f["tokens/logprobs"][:]
    sequences = [(prompts[prompt[c]], ids[a:b].tolist(), logp[a:b])
                 for c, a, b in zip(f["completions/candidate"][:], at, at[1:])]
text = "".join(json.dumps({"ids": p + c}) + "\n" for p, c, _ in sequences)
both = [said([dapo, "score", tmp + "/merged"], text),
        said([dapo, "score", base, "--adapter", tmp + "/adapter"], text)]
for scores in both:
    for (p, c, want), got in zip(sequences, scores):
        got = got["logprobs"][len(p):]
        assert [float(x) for x in want] == [float(type(want[0])(x)) for x in got], got
assert len(sequences) >= 24 and said([dapo, "score", base], text) != both[0]
END
checks=$((checks + 1))
fails 64 "$base/../model: the run.s own model is there" "$dapo" export "$checkpoint" \
    "$base/../model"
ask=(--custom '<|im_start|>{user}<|im_end|>' --temperature 0 --json
    --prompt 'Leo has 12 marbles. Then Leo picks up 14 more. How many marbles does Leo have now?')
ok "$dapo" generate "$tmp/merged" "${ask[@]}"
cp "$tmp/out" "$tmp/want"
ok "$dapo" generate "$base" --adapter "$tmp/adapter" "${ask[@]}"
same "$tmp/out" "$tmp/want"
fails 74 'adapter_config.json' "$dapo" generate "$base" --adapter "$tmp/none" "${ask[@]}"

echo "a run or an evaluation goes on from an adapter"
run start 1 --set lora.init="$tmp/adapter" --set optimizer.lr=0 --set run.steps=1
"$python" - "$runs/start/checkpoints/step-000001.h5" "$checkpoint" <<'END' || die "another start"
import sys, h5py
a, b = (h5py.File(x)["params"][:].tobytes() for x in sys.argv[1:])
assert a == b
END
no 'its rank is 8 .* lora.rank = 4' none --set lora.init="$tmp/adapter" --set lora.rank=4
no 'its targets .* not those of lora.targets' none --set lora.init="$tmp/adapter" \
    --set lora.targets=q_proj
evaluate() {
    ok "$dapo" eval "${job:-jobs/demo_dapo.ini}" --set data.eval="$tmp/task/eval.jsonl" \
        --set eval.samples=1 --set run.log=warn "$@"
    jq 'del(.seconds)' "$tmp/out" >"$tmp/eval"
}
# Where the rows can't go is said before the work.
fails 74 "$tmp: is a folder; name a file" "$dapo" eval jobs/demo_dapo.ini --out "$tmp" \
    --set data.eval="$tmp/none.jsonl"
fails 74 "$tmp/none/rows.tmp: can.t be created" "$dapo" eval jobs/demo_dapo.ini \
    --out "$tmp/none/rows" --set data.eval="$tmp/none.jsonl"
evaluate --set lora.rank=8 --set lora.init="$tmp/adapter" --out "$tmp/rows"
[ "$(wc -l <"$tmp/rows")" -eq 20 ] || die "not a line a problem"
cp "$tmp/eval" "$tmp/want"
evaluate --set model.path="$tmp/merged"
same "$tmp/eval" "$tmp/want"
# As slurm/eval.sh evaluates what it has exported.
job=$runs/start/job.ini evaluate --set model.path="$tmp/merged" --set lora.rank=0 \
    --set lora.init=
same "$tmp/eval" "$tmp/want"

echo "the base is the KL reference, without a second copy of it"
kl=(--set loss.kl_coef=0.3 --set run.steps=2)
run kl 1 "${kl[@]}" --set model.backend=check:cpu
run kl2 1 "${kl[@]}" --set loss.reference="$base"
compare trained,weights,metrics "$runs/kl" "$runs/kl2"
"$python" - "$runs/kl/rollouts" <<'END' || die "no KL to the base"
import sys, h5py
kl = [h5py.File(f"{sys.argv[1]}/step-00000{i}.h5")["metrics/ppo/kl"][()] for i in (1, 2)]
assert 0 < kl[0] < kl[1], kl # each step's second update is after its first
END
checks=$((checks + 1))

echo "supervised: the merged model, and its adapter beside it"
ok "$dapo" sft jobs/demo_sft.ini --set model.path="$base" --set model.init=pretrained \
    --set run.dir="$runs" --set data.train="$tmp/task/sft.jsonl" --set data.eval= --set run.steps=3 \
    --set sft.batch=8 --set sft.dtype=f32 --set sft.out="$tmp/sft" --set lora.rank=4 \
    --set lora.targets=q_proj,v_proj,mlp.down_proj
echo '{"ids": [16, 17, 10, 16, 19, 28, 17, 21, 13]}' >"$tmp/in"
ok "$dapo" score "$tmp/sft" <"$tmp/in"
cp "$tmp/out" "$tmp/want"
ok "$dapo" score "$base" --adapter "$tmp/sft/adapter" <"$tmp/in"
same "$tmp/out" "$tmp/want"
ok "$dapo" score "$base" <"$tmp/in"
! cmp -s "$tmp/out" "$tmp/want" || die "supervised training changed nothing"
passed
