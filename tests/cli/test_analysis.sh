#!/usr/bin/env bash
# The analysis against numbers counted by hand, and against a file written by the store.
. tests/cli/lib.sh
$python -c 'import h5py, pandas, matplotlib' 2>/dev/null || {
    echo "skipped: $name: no h5py, pandas or matplotlib"
    exit 77
}

# PNG FILE: it has pixels of many colours, so something is drawn.
png() {
    $python - "$1" <<'EOF'
import sys
import matplotlib.image
image = matplotlib.image.imread(sys.argv[1])
colors = {tuple(p) for p in (image[::3, ::3, :3] * 15).astype(int).reshape(-1, 3)}
sys.exit(not (image.shape[0] > 300 and image.shape[1] > 600 and len(colors) > 12))
EOF
}

$python tests/cli/make_run.py "$tmp/one" 30 1
$python tests/cli/make_run.py "$tmp/two" 20 2
$python tests/cli/make_run.py "$tmp/lie" 3 3 --lie

# line N FILE TEXT: the file's line N.
line() {
    [ "$(sed -n "$1p" "$2")" = "$3" ] || die "$2:$1 is '$(sed -n "$1p" "$2")', not '$3'"
    checks=$((checks + 1))
}

# complains PATTERN COMMAND...: fails with one line on standard error.
complains() {
    local pattern=$1
    shift
    if "$@" >"$tmp/out" 2>"$tmp/err"; then die "did not fail: $*"; fi
    [ "$(wc -l <"$tmp/err")" -eq 1 ] || die "not one sentence: $(cat "$tmp/err")"
    grep -qE -- "$pattern" "$tmp/err" || die "no '$pattern' in: $(cat "$tmp/err")"
    checks=$((checks + 1))
}

# Step 1 by hand: trained 5+7 and 0+11, all_wrong 50, cancelled 3, all_correct 4: 80.
ok "$python" analysis/waste.py "$tmp/one"
has '^ +1 +23 +4 +50 +0 +3 +80 +71\.2%$'
has '^no seconds: there are step files without'
line 1 "$tmp/one/waste.csv" "step,trained,all_correct,all_wrong,surplus,cancelled,\
stale,failed,total,wasted,wasted_ratio"
line 2 "$tmp/one/waste.csv" 1,23,4,50,0,3,0,0,80,57,0.7125
[ "$(wc -l <"$tmp/one/waste.csv")" -eq 31 ] || die "waste.csv lacks steps"
ok png "$tmp/one/waste.png"

# The rest of its bill by hand.  Decode 8 s, of them 2 in empty slots and 0.5 of no fate
# here, so 3/4 of each fate's; three replicas and a learner for 5 + 0.25 s.
$python tests/cli/make_run.py "$tmp/first" 1
ok "$python" analysis/waste.py "$tmp/first" --html "$tmp/page.html"
while IFS= read -r row; do has "^$row"; done <<'X'
run first: 1 steps, 4 ranks: 1 learn, 3 generate$
effective . candidate groups +0\.400 \(2 of 5\)
train . rollout tokens +0\.287$
effective groups per second +0\.381$
generated per trained token +3\.478 tokens
cost of 1000 trained tokens +913\.043 rank-seconds
tokens of the busiest replica +2\.025 of
tokens of the idlest replica +0\.41[23] of
decode time of the busiest +1\.500 of
decode of trained +3\.000 +14\.3% +130\.4348
decode of degenerate +1\.875 
decode of surplus +0\.000 
decode of cancelled +0\.750 
decode of what goes on +0\.375 
idle slots +2\.000 
waiting for the last group +1\.000 
ticks +0\.500 
judging +0\.250 
learner +2\.000 
delivery +2\.000 
publish +1\.000 
files +1\.000 
evaluation +0\.000 
learners without a batch +2\.250 
replicas without a step +3\.000 
ranks x wall clock +21\.000 +100\.0%
0 +1 +1 +50 +50 +87\.7%
to 3.4 +2 +3 +26 +3 +5\.3%
1 +1 +1 +4 +4 +7\.0%
 +11 +1 +0 +0\.000 +50 +50$
 +10 +2 +1 +0\.500 +15 +3$
X
[ ! -e "$tmp/first/waste.html" ] || die "the report is in two places"

# The report is one file: it refers to nothing outside, and every plot is in it.
ok "$python" - "$tmp/page.html" "$tmp/one/waste.html" <<'X'
import base64, html.parser, io, sys
import matplotlib.image

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.images, self.text = [], ""
    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name == "src":
                assert tag == "img" and value.startswith("data:image/png;base64,")
                self.images.append(base64.b64decode(value.split(",", 1)[1], validate=True))
            assert name not in ("href", "srcset", "action"), (tag, name)
        assert tag not in ("script", "link", "iframe", "object"), tag
    def handle_data(self, data):
        self.text += data

for path, plots in zip(sys.argv[1:], (5, 4)): # without seconds one plot less
    page = Page()
    text = open(path, encoding="utf-8").read()
    page.feed(text)
    assert len(page.images) == plots, len(page.images)
    assert "url(" not in text and "@import" not in text
    for data in page.images:
        image = matplotlib.image.imread(io.BytesIO(data))
        assert image.shape[0] > 200 and image.std() > 0.05
    for word in ("trained", "Relations", "Prompts", "Replicas"):
        assert word in page.text, word
    assert ("waiting for the last group" in page.text) == (plots == 5)
X

# A ledger that bills what no row holds is refused by name, and nothing is written.
complains 'step-000003.h5: the ledger bills [0-9]+ tokens to trained, the token rows hold' \
    "$python" analysis/waste.py "$tmp/lie"
[ ! -e "$tmp/lie/waste.csv" ] || die "an unbalanced run was reported"

ok "$python" analysis/curves.py "$tmp/one" "$tmp/two" --out "$tmp/both" --smooth 3
has 'two +reward/accuracy +20 '
has 'one +eval/average_at_n +4 +0\.125' # the one before the first step is the first
[ "$(wc -l <"$tmp/both/curves.csv")" -eq 51 ] || die "curves.csv lacks steps"
grep -q '^one,1,full,0.125,1.0,4.0,3.0,0.3333333333333333,8.0,' "$tmp/both/curves.csv" || die "curves.csv"
ok png "$tmp/both/curves.png"

# What isn't a run, or not complete, is one sentence.
mkdir -p "$tmp/none"
complains 'no step files' "$python" analysis/waste.py "$tmp/none"
head -c 700 "$tmp/one/rollouts/step-000002.h5" >"$tmp/two/rollouts/step-000002.h5"
complains "step-000002.h5: can't be read" "$python" analysis/curves.py "$tmp/two"

# The store's own file: candidate i < 11 of tests/mpi/test_store.c has fate i mod 7 and
# members m < 3 of (7 i + 3 m) mod 6 tokens; number 7 has no members.
program=build/${MODE:-release}/tests/mpi/test_store
make -s MODE="${MODE:-release}" "$program" >/dev/null || die "$program can't be built"
ok env DAPO_TEST_KEEP="$tmp/real" "$program" every_value
ok "$python" analysis/waste.py "$tmp/real"
line 2 "$tmp/real/waste.csv" 3,3,15,15,15,9,12,3,72,69,0.9583333333333334
ok "$python" analysis/curves.py "$tmp/real"
has 'real rollout/effective_fill_ratio +1 +3.33'
passed
