#!/usr/bin/env bash
# test_ranks.sh - what goes wrong on one rank only, on each rank in turn: one sentence
# that names it, the exit status, no hang.
. tests/cli/lib.sh
coin_job "$tmp/c"

# Each rank works in its own copy of the inputs; the bad one spoils its copy first.
cat >"$tmp/in_its_own" <<'X'
#!/usr/bin/env bash
rank=${OMPI_COMM_WORLD_RANK:-0}
mkdir "$SCRATCH/$rank" && cp -r "$COIN/in/." "$SCRATCH/$rank/" && cd "$SCRATCH/$rank" || exit 99
more=()
if [ "$rank" = "$BAD" ]; then
    eval "$SPOIL"
fi
exec "$DAPO" "$COMMAND" "$COIN/job.ini" "${more[@]}"
X
chmod +x "$tmp/in_its_own"
DAPO=$(realpath "$dapo")
export DAPO COIN=$tmp/c COMMAND=train
cases=0

# spoiled RANKS RANK STATUS PATTERN SPOIL
spoiled() {
    local scratch
    scratch=$(mktemp -d -p "$tmp")
    SCRATCH=$scratch BAD=$2 SPOIL=$5 refused "$3" "$4" on "$1" "$tmp/in_its_own"
    rm -rf "$scratch"
}

# mpirun spends its time waiting: several at once.
running=()
finish() {
    local pid
    for pid in ${running[@]+"${running[@]}"}; do
        wait "$pid" || exit 1 # it has said why
    done
    running=()
}
try() {
    spoiled "$@" &
    running+=($!)
    cases=$((cases + 1))
    [ ${#running[@]} -lt 5 ] || finish
}

# each RANKS RANK: every way to be spoiled.
each() {
    local who=$2 other=$2
    [ "$2" -ne 0 ] || other=1 # rank 0 is whom the others are compared with
    try "$1" "$2" 74 "rank $who: .*model.safetensors" 'rm model/model.safetensors'
    try "$1" "$2" 65 "rank $who: .*tokenizer.json" 'truncate -s 3000 model/tokenizer.json'
    try "$1" "$2" 74 "rank $who: train.jsonl" 'rm train.jsonl'
    try "$1" "$2" 65 "rank $who: eval.jsonl" 'echo "{" >>eval.jsonl'
    [ "$1" -gt 1 ] || return 0
    try "$1" "$2" 65 "rank $other: train.jsonl: .* prompts" 'sed -i 5,60d train.jsonl'
    try "$1" "$2" 65 "rank $other: eval.jsonl: .* prompts" 'sed -i 1d eval.jsonl'
    try "$1" "$2" 78 "rank $other: .*run.steps" 'more=(--set run.steps=2)'
    try "$1" "$2" 78 "rank $other: .*ranks.learners" 'more=(--set ranks.learners=2)'
}
each 1 0
for rank in 0 1 2; do
    each 3 $rank
done
for rank in 0 4; do
    each 5 $rank
done

# The other commands of several ranks.
COMMAND='sft'
try 3 1 78 'rank 1: .*sft.out' "more=(--set sft.out=$tmp/sft)"
try 3 2 65 'rank 2: train.jsonl: .* prompts' "sed -i 5d train.jsonl"
COMMAND='eval'
try 3 2 65 'rank 2: eval.jsonl: .* prompts' 'sed -i 1d eval.jsonl'
try 3 1 78 'rank 1: .*eval.samples' 'more=(--set eval.samples=2)'
finish
checks=$((checks + cases))
passed
