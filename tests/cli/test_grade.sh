#!/usr/bin/env bash
# dapo grade: rows in, verdicts out, in order and the same for any number of threads; its
# complaints; --explain; what dapo config says of the libraries.
. tests/cli/lib.sh

cat >"$tmp/rows" <<'X2'
{"id": "a", "gold": "34", "pred": "34", "expect": true}
{"id": "b", "gold": "34", "pred": "so \\boxed{34}.", "expect": "T"}
{"id": "c", "gold": "34", "pred": "35", "expect": false}
{"gold": 34, "response": "We get\nAnswer: 34.", "expect": true}
{"id": 5, "gold": "34", "response": "We get 34, I think.\nSo be it.", "expect": "F"}
{"id": 6, "gold": "34", "response": "34", "expect": true}
{"id": 7, "gold": "34", "response": "\\boxed{36}", "expect": true}
{"id": 8, "gold": "\u0000", "pred": "\u0000x", "expect": "policy"}
X2
ok "$dapo" grade "$tmp/rows" --against expect
cat >"$tmp/want" <<'X2'
{"id": "a", "verdict": "equal", "correct": true, "step": "text", "answer": "34", "expect": true}
{"id": "b", "verdict": "equal", "correct": true, "step": "text", "answer": "34", "expect": true}
X2
head -n 2 "$tmp/out" >"$tmp/two"
same "$tmp/two" "$tmp/want"
jq -c '[.id, .verdict, .correct, .whole]' "$tmp/out" | tail -n +3 >"$tmp/got"
cat >"$tmp/want" <<'X2'
["c","different",false,null]
[4,"equal",true,null]
[5,"no-answer",false,null]
[6,"equal",true,true]
[7,"different",false,null]
[8,"different",false,null]
X2
same "$tmp/got" "$tmp/want"
said '^rows: 8, malformed 0, responses taken whole 1$'
said '^verdicts: equal 4, different 3, no-answer 1$'
said '^against expect: 6 of 7 agree$'
said '^  7: different \([a-z]+\), expected right: 34 \| 36$'
cp "$tmp/out" "$tmp/first"
ok "$dapo" grade - --against expect <"$tmp/rows"
same "$tmp/out" "$tmp/first"
ok "$dapo" grade "$tmp/rows" --against expected
said '^against expected: no row has true or false there$'
ok "$dapo" grade "$tmp/rows" --strict
[ "$(jq -r '.verdict' "$tmp/out" | sed -n 6p)" = no-answer ] || die "--strict"
ok "$dapo" grade "$tmp/rows" --grader dapo
[ "$(jq -c '.correct' "$tmp/out" | tr '\n' ' ')" = \
    'true false false false false true false false ' ] || die "dapo: $(cat "$tmp/out")"
ok "$dapo" grade "$tmp/rows" --grader exact --window 5
[ "$(jq -r '.verdict' "$tmp/out" | sed -n 4p)" = no-answer ] || die "--window"
: >"$tmp/none"
ok "$dapo" grade "$tmp/none"
[ ! -s "$tmp/out" ] || die "rows of nothing"
said '^verdicts: none$'

# A malformed row is answered in its place, and the others are graded.
printf '%s\n' '{"gold": "1", "pred": "1"}' '{"gold": "1"}' 'what' '[1]' '' \
    '{"gold": ["1"], "pred": "1"}' '{"gold": "1", "pred": "2"}' >"$tmp/bad"
rc=0
"$dapo" grade "$tmp/bad" >"$tmp/out" 2>"$tmp/err" || rc=$?
[ $rc -eq 65 ] || die "exit status $rc, not 65"
said 'rows: 7, malformed 5'
said '^dapo: .*bad: line 2: has neither "pred" nor "response"; malformed rows in all: 5'
[ "$(jq -r '.verdict // .error' "$tmp/out" | sed "s|$tmp/||")" = "equal
bad: line 2: has neither \"pred\" nor \"response\"
bad: line 3: is not JSON: invalid token near 'what'
bad: line 4: is not a JSON object
bad: line 5: is empty
bad: line 6: \"gold\" is neither text nor a number
different" ] || die "$(cat "$tmp/out")"
checks=$((checks + 2))

# The same for any number of threads, over more rows than a thread takes at once.
for ((i = 0; i < 3000; i++)); do
    printf '{"id": %d, "gold": "%d", "pred": "\\\\frac{%d}{%d}"}\n' \
        $i $((i % 7)) $((i * 3 % 91)) $((i % 13 + 1))
done >"$tmp/many"
ok "$dapo" grade "$tmp/many"
cp "$tmp/out" "$tmp/one"
for threads in 8 32; do
    ok "$dapo" grade "$tmp/many" --threads $threads
    same "$tmp/out" "$tmp/one"
done
if [ -d "$data/grader" ]; then
    jq -c 'select(.gold and .pred)' "$data"/grader/{challenge,mathverify,mario}_cases.jsonl \
        >"$tmp/cases"
    ok "$dapo" grade "$tmp/cases"
    cp "$tmp/out" "$tmp/one"
    for threads in 8 32; do
        ok "$dapo" grade "$tmp/cases" --threads $threads
        same "$tmp/out" "$tmp/one"
    done
fi

ok "$dapo" grade --explain '\frac12' 'so \boxed{0.5}.'
has '^grader:  math, version math-'
has '^answer:  0\.5 \(bytes 10 to 13 of 15\)$'
has '^verdict: equal, by step rational$'
ok "$dapo" grade --explain 5 $'\e[31m6'
! grep -q $'\e' "$tmp/out" || die "a control character on the terminal"
has '^answer:   \[31m6$'
ok "$dapo" grade --explain 34 34.0 --grader exact
has '^answer, normal form: 34$'
has '^verdict: equal, by step text$'

ok "$dapo" config
has '^# grader = math by GMP'
ok "$dapo" config --bare
! grep -q GMP "$tmp/out" || die "libraries with --bare"

fails 64 'too few' "$dapo" grade
fails 64 'too few' "$dapo" grade --explain 1
fails 64 'too many' "$dapo" grade --explain 1 2 3
fails 64 'unknown option --agains' "$dapo" grade "$tmp/rows" --agains x
fails 64 '--grader sympy: want one of exact\|dapo\|math' "$dapo" grade x --grader sympy
fails 64 '--threads 0' "$dapo" grade x --threads 0
fails 74 "$tmp/nothing: can't be opened" "$dapo" grade "$tmp/nothing"
passed
