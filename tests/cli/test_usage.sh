#!/usr/bin/env bash
# Help, wrong command lines, wrong settings, and that every option is explained.
. tests/cli/lib.sh

ok "$dapo" help
commands=$(sed -n 's/^COMMAND("\([a-z]*\)".*/\1/p' src/cmd/cmd.def)
for c in $commands; do
    has "^  $c "
done
cp "$tmp/out" "$tmp/help"
ok "$dapo"
same "$tmp/out" "$tmp/help"
ok "$dapo" --help
same "$tmp/out" "$tmp/help"
for c in $commands; do
    ok "$dapo" help "$c"
    has "^usage: dapo $c"
    cp "$tmp/out" "$tmp/help"
    ok "$dapo" "$c" --help
    same "$tmp/out" "$tmp/help"
    sed -n "s/^OPTION(\"$c\", \"\(-[^ \"]*\).*/\1/p" src/cmd/options.def >"$tmp/list"
    while read -r option; do
        has "^  $option( |\$)"
    done <"$tmp/list"
done
# Each option that a command takes has a row, and each row is taken.
grep -hoE 'cmd_(option|flag|int|real|choice)\(e, "(-[^"]*)"' src/cmd/*.c |
    sed 's/.*"\(.*\)"/\1/' >"$tmp/list"
grep -hoE '\{"--[a-z-]+", [0-9]+, ' src/cmd/task.c | sed 's/.*"\(.*\)".*/\1/' >>"$tmp/list"
sort -u "$tmp/list" >"$tmp/taken"
sed -n 's/^OPTION("[a-z*]*", "\(-[^ "]*\).*/\1/p' src/cmd/options.def | sort -u >"$tmp/told"
diff "$tmp/taken" "$tmp/told" >&2 || die "options.def"

fails 64 'there is no command trian' "$dapo" trian
fails 64 'there is no command trian' "$dapo" help trian
fails 64 'too many' "$dapo" help train sft
fails 64 'needs a job file' "$dapo" train
fails 64 'needs a job file' "$dapo" eval --out x

cat >"$tmp/job.ini" <<'X'
[run]
name = t
[model]
path = nowhere
X
fails 64 'unknown option --resum' "$dapo" train "$tmp/job.ini" --resum auto
fails 64 'too many arguments' "$dapo" train "$tmp/job.ini" other.ini
fails 78 'run.resume = yesterday' "$dapo" train "$tmp/job.ini" --resume yesterday
fails 64 '--set needs a value' "$dapo" config "$tmp/job.ini" --set
fails 78 'run.sede.*run.seed' "$dapo" config "$tmp/job.ini" --set run.sede=1
fails 78 'modle.*model' "$dapo" config "$tmp/job.ini" --set modle.path=x
fails 78 '^dapo: --set: run.seed.* 9007199254740992\]' \
    "$dapo" config "$tmp/job.ini" --set run.seed=many
fails 74 "$tmp/none.ini" "$dapo" config "$tmp/none.ini"
printf '[run]\nsede = 1\n' >"$tmp/bad.ini"
fails 78 "$tmp/bad.ini.*sede.*seed" "$dapo" config "$tmp/bad.ini"

# What config prints parses back to the same.
ok "$dapo" config "$tmp/job.ini" --set optimizer.lr=0.1234567 --set 'prompt.suffix=\n x\s'
cp "$tmp/out" "$tmp/one.ini"
ok "$dapo" config "$tmp/one.ini"
same "$tmp/out" "$tmp/one.ini"
ok "$dapo" config "$tmp/one.ini" --bare
! grep -q '#' "$tmp/out" || die "comments with --bare"
for job in jobs/*.ini; do
    [ -e "$job" ] || continue
    ok "$dapo" config "$job"
    cp "$tmp/out" "$tmp/one.ini"
    ok "$dapo" config "$tmp/one.ini"
    same "$tmp/out" "$tmp/one.ini"
done
passed
