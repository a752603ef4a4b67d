#!/usr/bin/env bash
# dapo score against the logits that transformers computed for a small Qwen2 model
# (tests/ref/make_models.py), and its complaints.
. tests/cli/lib.sh
model=tests/ref/models/qwen2

"$python" - "$model" >"$tmp/want" <<'X'
"""Per sequence: ids, log-probs of each token, the 3 likeliest after each position."""
import json, math, struct, sys
b = open(sys.argv[1] + "/ref.safetensors", "rb").read()
n = struct.unpack("<Q", b[:8])[0]
head = json.loads(b[8:8 + n])
def get(name):
    lo, hi = head[name]["data_offsets"]
    return struct.unpack(f"<{(hi - lo) // 4}f", b[8 + n + lo:8 + n + hi])
ids, start, flat = get("ids"), get("start"), get("logits")
width = len(flat) // len(ids)
for s, e in zip(start, start[1:]):
    logp = []
    for i in range(int(s), int(e)):
        row = flat[i * width:(i + 1) * width]
        z = max(row) + math.log(sum(math.exp(x - max(row)) for x in row))
        logp.append([x - z for x in row])
    own = [int(x) for x in ids[int(s):int(e)]]
    top = [sorted(range(width), key=lambda j: -p[j])[:3] for p in logp]
    print(json.dumps({
        "ids": own,
        "logprobs": [None] + [p[t] for p, t in zip(logp, own[1:])],
        "top": [[[j, p[j]] for j in t] for t, p in zip(top, logp)]}))
X
compare() { # TOLERANCE: of $tmp/out with $tmp/want
    "$python" - "$tmp/out" "$tmp/want" "$1" <<'X'
import json, sys
got, want = ([json.loads(x) for x in open(p)] for p in sys.argv[1:3])
tol = float(sys.argv[3])
def near(a, b):
    if isinstance(b, list):
        return len(a) == len(b) and all(map(near, a, b))
    return a == b if b is None or isinstance(b, int) else abs(a - b) < tol
assert len(got) == len(want)
for g, w in zip(got, want):
    assert near(g["logprobs"], w["logprobs"]), (g, w)
    assert "top" not in g or near(g["top"], w["top"]), (g, w)
X
    checks=$((checks + 1))
}
for backend in cpu ref; do
    ok "$dapo" score "$model" --top 3 --backend $backend <"$tmp/want"
    has top
    compare 1e-4
done
ok "$dapo" score "$model" <"$tmp/want"
! grep -q top "$tmp/out" || die "top without --top"
compare 1e-4
ok "$dapo" score "$model" --compute bf16 <"$tmp/want"
compare 0.2
printf '[]\n[5]\n' >"$tmp/in"
ok "$dapo" score "$model" <"$tmp/in"
printf '{"logprobs": []}\n{"logprobs": [null]}\n' >"$tmp/two"
same "$tmp/out" "$tmp/two"

bad() { # STATUS PATTERN INPUT OPTIONS...
    local status=$1 pattern=$2
    printf '%b' "$3" >"$tmp/in"
    shift 3
    fails "$status" "$pattern" "$dapo" score "$model" "$@" <"$tmp/in"
}
bad 65 'line 2: ids\[2\] is not an id in \[0, 48\)' '[1, 2]\n[1, 2, 48]\n'
bad 65 'line 1: has 129 ids, but the model has only 128 positions' \
    "[0$(printf ',1%.0s' {1..128})]\n"
bad 65 'line 1: is not JSON' '[1, 2\n'
bad 64 '--top 49: the model has only 48' '[1]' --top 49
bad 64 '--top x' '[1]' --top x
bad 64 '--compute f16: want one of f32\|bf16' '[1]' --compute f16
bad 64 'cpu' '[1]' --backend gpu
bad 64 '--top needs a value' '[1]' --top
fails 74 config.json "$dapo" score "$tmp"
passed
