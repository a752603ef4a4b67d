# lib.sh - for tests of the commands: sourced, from the repository root, by
# tests/cli/test_*.sh.  Each check stops the script on failure; `passed` ends it.
# shellcheck shell=bash
set -eu
# Inside of an allocation too the tests start what they need by themselves.
# shellcheck disable=SC2086
unset ${!SLURM_@}
dapo=${DAPO:-bin/dapo}
name=${0#./}
checks=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034 # for the tests that source this
python=${PYTHON:-/usr/bin/python3}
data=${DAPO_DATA:-../shared/data}
root=$PWD

die() {
    echo "$name: $*" >&2
    exit 1
}

# needs_data: the whole script needs the folder of real inputs.
needs_data() {
    [ -d "$data" ] || {
        echo "skipped: $name: no DAPO_DATA"
        exit 77
    }
}

# ok COMMAND...: exit status 0; its output is in $tmp/out and $tmp/err.
ok() {
    local rc=0
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq 0 ] || die "exit status $rc: $* ($(cat "$tmp/err"))"
    checks=$((checks + 1))
}

# fails STATUS PATTERN COMMAND...: this exit status and exactly one line on standard
# error, "dapo: ..." with the extended regular expression PATTERN in it.
fails() {
    local want=$1 pattern=$2 rc=0
    shift 2
    "$@" >"$tmp/out" 2>"$tmp/err" || rc=$?
    [ $rc -eq "$want" ] ||
        die "exit status $rc, not $want: $* ($(cat "$tmp/err"))"
    if [ "$(wc -l <"$tmp/err")" -ne 1 ] || ! grep -q '^dapo: ' "$tmp/err"; then
        die "not one sentence: $*: $(cat "$tmp/err")"
    fi
    grep -qE -- "$pattern" "$tmp/err" || die "no '$pattern' in: $(cat "$tmp/err")"
    checks=$((checks + 1))
}

# has PATTERN: the last command printed it; said PATTERN: on standard error.
# same A B: two files are the same bytes.
has() {
    grep -qE -- "$1" "$tmp/out" || die "no '$1' in: $(head -c 2000 "$tmp/out")"
    checks=$((checks + 1))
}
said() {
    grep -qE -- "$1" "$tmp/err" || die "no '$1' in: $(cat "$tmp/err")"
    checks=$((checks + 1))
}
same() {
    cmp -s "$1" "$2" || die "$1 and $2 differ"
    checks=$((checks + 1))
}

# compare WHAT A B: two runs are the same in these respects (compare_runs.py).
compare() {
    ok "$python" "$root/tests/cli/compare_runs.py" "$@"
    cat "$tmp/out"
}

# until_file FILE PID: it is there, or that job in the background has ended.
until_file() {
    local i
    for ((i = 0; i < 1500; i++)); do
        if [ -e "$1" ] || ! kill -0 "$2" 2>/dev/null; then
            return 0
        fi
        sleep 0.02
    done
}

# tiny_model DIR: a small Qwen2 folder without weights, its task's files in DIR-task.
tiny_model() {
    "$dapo" prepare --task arithmetic --out "$1-task" --train 40 --eval 20 --sft 60 \
        --model "$1" --dim 32 --layers 2 --heads 4 --kv-heads 2 --ffn 48 \
        --max-position 256 >/dev/null
}

# hybrid_model DIR: its configuration becomes that of a small Qwen3.5, as released: vision
# beside the text, and every second layer with linear attention.
hybrid_model() {
    "$python" - "$1/config.json" <<'END'
import json, sys
old = json.load(open(sys.argv[1]))
text = {k: old[k] for k in ("vocab_size", "eos_token_id", "max_position_embeddings")}
text.update(model_type="qwen3_5_text", hidden_size=32, intermediate_size=48,
            num_hidden_layers=4, num_attention_heads=2, num_key_value_heads=1, head_dim=16,
            rms_norm_eps=1e-6, hidden_act="silu", attention_bias=False,
            full_attention_interval=2, linear_num_key_heads=2, linear_num_value_heads=4,
            linear_key_head_dim=8, linear_value_head_dim=8, linear_conv_kernel_dim=4,
            attn_output_gate=True, tie_word_embeddings=True,
            rope_parameters=dict(rope_type="default", rope_theta=10000000,
                                 partial_rotary_factor=0.25, mrope_section=[1, 1, 0]))
json.dump(dict(architectures=["Qwen3_5ForConditionalGeneration"], model_type="qwen3_5",
               tie_word_embeddings=True, vision_config={}, text_config=text),
          open(sys.argv[1], "w"))
END
}

passed() {
    echo "$name: $checks passed, 0 failed, 0 skipped"
}

# coin_job DIR [hybrid]: in DIR a job.ini that trains in a second, on any number of ranks: a tiny
# model that tosses a coin where the answer is 0 or 1.  Its inputs, model, train.jsonl and
# eval.jsonl, are in DIR/in, and it is to be run from there; the run is DIR/runs/r.
coin_job() {
    local in=$1/in i
    mkdir -p "$in"
    tiny_model "$1/m"
    if [ $# -gt 1 ]; then
        hybrid_model "$1/m"
    fi
    for ((i = 0; i < 60; i++)); do
        printf '{"id": "%s", "question": "Toss %s: 0 or 1?", "answer": "%s", "solution": "\\\\boxed{%s}"}\n' \
            $i $i $((i * 7 % 5 % 2)) $((i % 2))
    done >"$in/train.jsonl"
    sed -n '5,9p' "$in/train.jsonl" >"$in/eval.jsonl"
    cat >"$1/job.ini" <<X
[run]
name = r
dir = $1/runs
steps = 3
save_every = 1
log = warn
[model]
path = model
[data]
train = train.jsonl
eval = eval.jsonl
[prompt]
template = custom
custom = {user}
suffix = \s
max_tokens = 128
[rollout]
max_tokens = 16
slots = 8
[admission]
groups = 3
group_size = 4
max_multiplier = 4
[reward]
overlong = off
[sft]
out = $1/sft
[optimizer]
lr = 0.001
updates_per_step = 2
X
    "$dapo" sft "$1/job.ini" --set model.path="$1/m" --set model.init=random \
        --set data.train="$in/train.jsonl" --set run.steps=50 --set sft.batch=16 \
        --set optimizer.lr=0.02 --set sft.out="$in/model" || die "no coin model"
}

# on RANKS COMMAND...: under mpirun, with a time limit.
on() {
    local n=$1
    shift
    # shellcheck disable=SC2086 # MPIRUN is a command line
    timeout -k 5 "${LIMIT:-60}" \
        ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n "$n" "$@" </dev/null
}

# refused STATUS PATTERN COMMAND...: as fails, but mpirun may add its own lines.  It
# writes no files, so that several may run at once.
refused() {
    local want=$1 pattern=$2 rc=0 err
    shift 2
    err=$("$@" 2>&1 >/dev/null) || rc=$?
    [ $rc -eq "$want" ] || die "exit status $rc, not $want: $* (${err:0:2000})"
    [ "$(grep -c '^dapo: ' <<<"$err")" -eq 1 ] || die "not one sentence: $*: ${err:0:2000}"
    grep -qE -- "^dapo: .*($pattern)" <<<"$err" ||
        die "no '$pattern': $*: $(grep '^dapo: ' <<<"$err")"
    checks=$((checks + 1))
}
