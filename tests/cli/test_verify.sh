#!/usr/bin/env bash
# test_verify.sh - dapo verify finds every kind of damage in a run directory and names the
# file; dapo repair sets it aside without losing a byte; the run goes on to the same bits.
. tests/cli/lib.sh

ok "$dapo" prepare --task arithmetic --out "$tmp/task" --train 200 --eval 20 --sft 10 --seed 3
train() { # NAME STEPS
    ok "$dapo" train jobs/demo_dapo.ini --set run.dir="$tmp/runs" --set run.name="$1" \
        --set run.steps="$2" --set run.save_every=2 --set run.keep=0 --set run.log=warn \
        --set data.train="$tmp/task/train.jsonl" --set data.eval= \
        --set admission.groups=2 --set admission.group_size=4 --set rollout.slots=8 \
        --set optimizer.updates_per_step=1 --set optimizer.lr=1e-3
}
train calm 6
run=$tmp/runs/calm
ok "$dapo" verify "$run"
[ "$(grep -c '^ok ' "$tmp/out")" -eq 12 ] || die "not all ok: $(cat "$tmp/out")"
has '^resumes from step 6$'
fails 74 'No such file' "$dapo" verify "$tmp/nothing"
fails 74 'not a run directory|No such file' "$dapo" repair "$tmp/task"
[ ! -e "$tmp/task/rollouts" ] || die "repair made a run directory"

# damage HOW FILE: in a fresh copy of the run, at $hurt.
hurt=$tmp/runs/hurt
damage() {
    rm -rf "$hurt"
    cp -r "$run" "$hurt"
    "$python" - "$1" "$hurt/$2" <<'END'
import os, sys, h5py
how, path = sys.argv[1:]
if how == "cut":
    os.truncate(path, os.path.getsize(path) // 2)
elif how == "empty":
    os.truncate(path, 0)
elif how.startswith("flip "):  # one bit of a dataset's bytes on the disk
    with h5py.File(path) as f:
        at = f[how[5:]].id.get_offset() + 5
    with open(path, "r+b") as f:
        f.seek(at)
        byte = f.read(1)[0]
        f.seek(at)
        f.write(bytes([byte ^ 64]))
elif how == "add":  # a column of tokens that is not one
    with h5py.File(path, "r+", libver=("v110", "v110")) as f:
        extra = f.create_dataset("tokens/extra", data=[7])
        extra.attrs["checksum"] = extra.dtype.type(7).astype("u8")
elif how.startswith("set "):  # a row of a column
    with h5py.File(path, "r+") as f:
        f[how[4:]][1] += 1
END
}
finds() { # WORDS HOW FILE
    damage "$2" "$3"
    fails 65 "1 damaged file" "$dapo" verify --quiet "$hurt"
    has "^damaged +$3: .*$1"
}
step=rollouts/step-000003.h5
finds 'is not an HDF5 file|truncated' cut $step
finds 'is not an HDF5 file' empty $step
finds 'checksum|numbers are not those|tokens' 'set /completions/n_tokens' $step
finds 'ledger' 'set /ledger/tokens' $step
finds 'unknown fate|ledger' 'set /candidates/fate' $step
finds 'numbers are not those' 'set /completions/correct' $step
finds 'not that of its tokens' 'set /tokens/completion_offset' $step
finds "don't follow" 'set /completions/member' $step
finds 'columns disagree in length' add $step
finds 'tokens/ids is damaged|below 0' 'flip /tokens/ids' $step
finds 'tokens/logprobs is damaged' 'flip /tokens/logprobs' $step
finds 'answers/bytes is damaged' 'flip /answers/bytes' $step
finds 'completions/advantage is damaged' 'flip /completions/advantage' $step
finds 'candidates/prompt_id is damaged' 'set /candidates/prompt_id' $step
save=checkpoints/step-000004.h5
finds 'params is damaged' 'flip /params' $save
finds 'moment1 is damaged' 'flip /moment1' $save
finds 'moment2 is damaged' 'flip /moment2' $save
finds 'head is damaged' 'flip /state' $save
finds 'is not an HDF5 file|truncated' cut $save
has '^resumes from step 6$'

echo "warnings: what a job or dapo repair puts right by itself"
damage none $step
rm "$hurt/rollouts/step-000002.h5" "$hurt/run.h5"
echo step-000002.h5 >"$hurt/checkpoints/latest"
touch "$hurt/rollouts/step-000007.h5.tmp"
ok "$dapo" verify --quiet "$hurt"
has '^warning +rollouts: steps 2 to 2 have no file'
has '^warning +run.h5: is not there'
has '^warning +checkpoints/latest: names step-000002.h5'
has '^warning +rollouts/step-000007.h5.tmp: '

echo "what is no file of the run under a name of one: nothing waits for it or takes it"
damage none $step
cp "$hurt/$save" "$hurt/checkpoints/step-000006.h5" # the newest, by its name only
cp "$hurt/$step" "$hurt/rollouts/step-000007.h5"
mkfifo "$hurt/checkpoints/step-000007.h5" "$hurt/rollouts/step-000008.h5"
mkdir "$hurt/checkpoints/step-000008.h5"
ln -s nowhere "$hurt/checkpoints/step-000009.h5"
rm "$hurt/job.ini" "$hurt/checkpoints/latest"
mkfifo "$hurt/job.ini" "$hurt/checkpoints/latest"
fails 65 '6 damaged files' timeout 20 "$dapo" verify --quiet "$hurt"
has '^damaged +checkpoints/step-000006.h5: is the file of step 4'
has '^damaged +rollouts/step-000007.h5: is the file of step 3'
has '^damaged +rollouts/step-000008.h5: is not a regular file'
has '^damaged +checkpoints/step-000008.h5: is not a regular file'
has '^warning +job.ini: is not a regular file'
has '^resumes from step 4$'
cp -r "$hurt" "$tmp/runs/odd"
rm "$hurt/checkpoints/latest" "$hurt/run.h5"
mkdir -p "$hurt/checkpoints/latest/x" "$hurt/run.h5"
ok timeout 20 "$dapo" repair "$hurt"
[ "$(find "$hurt/damaged" -name 'step-*' | wc -l)" -eq 6 ] || die "$(find "$hurt/damaged")"
[ -d "$hurt/damaged/checkpoints/latest/x" ] || die "latest is not aside"
ok "$dapo" verify --quiet "$hurt"
ok timeout 60 "$dapo" train jobs/demo_dapo.ini --set run.dir="$tmp/runs" --set run.name=odd \
    --set run.steps=4 --set run.log=warn --set data.train="$tmp/task/train.jsonl" \
    --set data.eval= --set admission.groups=2 --set admission.group_size=4 \
    --set optimizer.updates_per_step=1 --set optimizer.lr=1e-3
said 'step-000006.h5: is the file of step 4: not usable as a checkpoint'

echo "repair: damaged files move, bytes stay, the rest is made anew"
damage cut $step
cp "$hurt/$step" "$tmp/cut"
"$python" -c "
import os, sys
os.truncate(sys.argv[1], 5000)" "$hurt/checkpoints/step-000006.h5"
ok "$dapo" repair "$hurt"
has '^resumes from step 4$'
same "$tmp/cut" "$hurt/damaged/$step"
[ "$(cat "$hurt/checkpoints/latest")" = step-000004.h5 ] || die "latest is not repaired"
ok "$dapo" verify "$hurt"
has '^warning +rollouts: steps 3 to 3 have no file'
has '^ok +run.h5'
ok "$dapo" repair "$hurt" # nothing left to do

echo "and the run goes on from there to the bits of the undisturbed one"
train calm 8
train hurt 8
cp "$run/$step" "$hurt/$step" # as from a backup
ok "$python" tests/cli/compare_runs.py trained,tokens,ledger,weights,metrics "$run" "$hurt"
passed
