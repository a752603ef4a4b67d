#!/usr/bin/env bash
# Training runs with reward.grader = math: verdicts and their counts in step files, the
# grader's version, answers that no completion can be right against.
. tests/cli/lib.sh
coin_job "$tmp/job"
cd "$tmp/job/in"
dapo=$OLDPWD/${dapo}
run() {
    on 2 "$dapo" train ../job.ini --set reward.grader=math --set run.log=info "$@"
}
column() { # FILE NAME: a column or metric as numbers on a line
    "$python" - "$1" "$2" <<'END'
import sys, h5py
with h5py.File(sys.argv[1]) as f:
    x = f[sys.argv[2]][()]
    print(*(x.tolist() if x.shape else [x]))
END
}
ok run
said 'grader=math version=math-[^ ]* window=300 libraries="GMP'
said 'prompts=60 too_long=0 bad_gold=0 held_out=5 bad_gold_held_out=0'
said 'step=1 .* unknown=0 '
step=$tmp/job/runs/r/rollouts/step-000002.h5
"$python" - "$step" <<'END' || die "verdicts of step 2"
import sys, h5py, numpy as np
f = h5py.File(sys.argv[1])
c = f["completions"]
names = {v: k for k, v in h5py.check_enum_dtype(c["verdict"].dtype).items()}
verdict = np.array([names[v] for v in c["verdict"][:].tolist()])
judged = verdict != "none"
right = np.isin(verdict, ["equal", "equal-numeric"])
assert judged.any() and (right == (c["correct"][:] == 1)).all()
found = judged & (verdict != "no-answer")
assert (found == (c["answer_found"][:] == 1)).all()
# the counts are over complete groups
index = c["candidate"][:]
whole = {g for g in set(index.tolist())
         if set(c["finish_reason"][:][index == g].tolist()) <= {1, 2}}
mine = np.isin(index, list(whole))
for metric, kind in [("wrong", "different"), ("no_answer", "no-answer"),
                     ("unknown", "unknown"), ("numeric", "equal-numeric")]:
    assert f["metrics/reward/grader_" + metric][()] == (verdict[mine] == kind).sum(), metric
assert (verdict[mine] == "different").sum() > 0
END
checks=$((checks + 1))
ok "$dapo" inspect "$step"
has '^grader +math-'
has 'reward/grader_no_answer'

# It resumes under the same rules, not under others.
ok run --set run.steps=4
refused 78 'reward.grader' on 2 "$dapo" train ../job.ini --set run.steps=5

# Braces that don't match: no box can say these answers.
sed '3s/"answer": "[01]"/"answer": "\\\\frac{1"/; 7s/"answer": "[01]"/"answer": "}"/' \
    train.jsonl >bad.jsonl
ok run --set run.name=drop --set data.train=bad.jsonl --set run.steps=1
said 'bad.jsonl: 2 answers are not right by grader=math .* prompts dropped: ids 2, 6$'
said 'prompts=58 too_long=0 bad_gold=2'
! column "$tmp/job/runs/drop/rollouts/step-000001.h5" candidates/prompt_id |
    tr ' ' '\n' | grep -qx -e 2 -e 6 || die "a dropped prompt was drawn"
ok run --set run.name=keep --set data.train=bad.jsonl --set data.on_bad_gold=keep \
    --set run.steps=1
said 'prompts=60 too_long=0 bad_gold=2'
refused 65 'bad.jsonl: 2 answers .* \(ids 2, 6\); correct them' \
    on 2 "$dapo" train ../job.ini --set reward.grader=math --set run.name=error \
    --set data.train=bad.jsonl --set data.on_bad_gold=error
passed
