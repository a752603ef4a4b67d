#!/usr/bin/env bash
# dapo tokenize: there and back, special tokens, broken lines, closed pipes.
. tests/cli/lib.sh
tiny_model "$tmp/m"

cat >"$tmp/texts" <<'X'
"Tom has 12 apples.  How many?\n"
{"text": "caf\u00e9 \u4e2d\u6587 \ud83d\ude00 a\u0000b <|im_end|>"}
""
X
ok "$dapo" tokenize "$tmp/m" <"$tmp/texts"
cp "$tmp/out" "$tmp/ids"
ok "$dapo" tokenize "$tmp/m" --decode <"$tmp/ids"
jq -c '.text' "$tmp/out" >"$tmp/back"
jq -c 'if type == "object" then .text else . end' "$tmp/texts" >"$tmp/want"
same "$tmp/back" "$tmp/want"
tail -n 1 "$tmp/ids" >"$tmp/out"
has '^\{"ids": \[\]\}$'

# Byte-level: without merges over them, "a" is byte 97's id; Qwen2's order puts '!' at 0.
echo '"!"' >"$tmp/in"
ok "$dapo" tokenize "$tmp/m" <"$tmp/in"
has '^\{"ids": \[0\]\}$'

# A special token is one id only if asked for.
echo '"<|im_end|>"' >"$tmp/in"
ok "$dapo" tokenize "$tmp/m" --special <"$tmp/in"
has '^\{"ids": \[[0-9]+\]\}$'
cp "$tmp/out" "$tmp/ids"
ok "$dapo" tokenize "$tmp/m" --decode <"$tmp/ids"
has '^\{"text": "<\|im_end\|>"\}$'
ok "$dapo" tokenize "$tmp/m" <"$tmp/in"
has ', '

# Half a character decodes to U+FFFD, never to broken JSON.
echo '"é"' | "$dapo" tokenize "$tmp/m" | jq -c '{ids: [.ids[0]]}' >"$tmp/half"
ok "$dapo" tokenize "$tmp/m" --decode <"$tmp/half"
[ "$(jq -r .text "$tmp/out")" = $'\xef\xbf\xbd' ] || die "half a character"

bad() { # STATUS PATTERN INPUT OPTIONS...
    local status=$1 pattern=$2
    printf '%b' "$3" >"$tmp/in"
    shift 3
    fails "$status" "$pattern" "$dapo" tokenize "$tmp/m" "$@" <"$tmp/in"
}
bad 65 'line 2: is not JSON' '"a"\nb\n'
bad 65 'line 3: is empty' '"a"\n"b"\n\n"c"\n'
bad 65 'line 1: has no text' '{"texts": "a"}\n'
bad 65 'line 1: has no text' '[1]\n'
bad 65 'line 1: is not JSON' '"\\xff"\n'
bad 65 'line 1: has no list of ids' '{"text": "a"}\n' --decode
bad 65 'line 2: ids\[1\] is not an id in \[0, ' '{"ids": [1]}\n{"ids": [1, 99999]}' --decode
bad 65 'line 1: ids\[0\] is not an id' '[-1]' --decode
bad 65 'line 1: ids\[0\] is not an id' '["1"]' --decode
bad 65 'line 1: ids\[0\] is not an id' '[1.5]' --decode
bad 65 'line 1: ids\[0\] is not an id' '[99999999999999999]' --decode
bad 64 '--special is for texts' '' --decode --special
fails 64 'too few arguments' "$dapo" tokenize
fails 64 'too many arguments' "$dapo" tokenize a b
fails 64 'unknown option --speciale' "$dapo" tokenize "$tmp/m" --speciale
fails 64 'unknown option --set' "$dapo" tokenize "$tmp/m" --set run.seed=1
fails 74 "$tmp/none" "$dapo" tokenize "$tmp/none"

full() { "$dapo" tokenize "$tmp/m" <"$tmp/texts" >/dev/full; }
fails 74 "standard output can't be written" full
closed() { # nobody reads any more
    yes '"a"' | head -n 100000 | "$dapo" tokenize "$tmp/m" | head -n 1 >/dev/null
    return "${PIPESTATUS[2]}"
}
set +e
fails 74 "standard output can't be written" closed
passed
