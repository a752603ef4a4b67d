#!/usr/bin/env bash
# The shipped job files: every one resolves; the two published ones differ in the four
# switches of the preset and in nothing else; their sizes are the model card's (32.5B
# parameters, 31.0B of them outside the embeddings) and the published batch.
. tests/cli/lib.sh
for job in jobs/*.ini; do
    ok "$dapo" config "$job"
done
for kind in dapo grpo; do
    ok "$dapo" config "jobs/${kind}_32b.ini" --bare
    cp "$tmp/out" "$tmp/$kind"
done
diff "$tmp/dapo" "$tmp/grpo" | sed -n 's/^> //p' | sort >"$tmp/out"
printf '%s\n' 'clip_high = 0.2' 'dynamic = false' 'name = grpo_32b' 'overlong = off' \
    'preset = grpo' 'reduction = sample_mean' >"$tmp/want"
same "$tmp/out" "$tmp/want"

ok "$dapo" plan jobs/dapo_32b.ini --ranks 16
has '^parameters +32763876352$'
has '^batch +512 groups, 8192 completions, 16 updates$'
has '^candidates +at most 15360, '
has '^ranks +8 learning, 8 generating$'
# Parameters as transformers counts them (Qwen3_5ForCausalLM of that config.json), and those
# that PEFT trains of it: 32 x (rows + columns) of each matrix.
ok "$dapo" plan jobs/dapo_4b_lora.ini --ranks 4
has '^parameters +4205751296$'
has '^trained +64929792, an adapter of rank 32 on 3569090560$'
has '^batch +4 groups, 32 completions, 1 update$'
has '^candidates +at most 8, 64 completions$'
has '^ranks +1 learning, 3 generating$'
# Without the weights, or with a disk too small for them, a run ends in one sentence.
refused 74 'qwen2.5-32b|a checkpoint needs 366.17 GiB' "$dapo" train jobs/dapo_32b.ini --set run.dir="$tmp/runs"

# A site's file: the batch scripts read it, make asks for it, and what its examples set is
# known to either.
mkdir -p "$tmp/site/env"
cp Makefile "$tmp/site"
# shellcheck disable=SC2016 # for the script that is written
echo 'export DAPO_SITE=here DAPO_LAUNCH=mpirun$UNSET' >"$tmp/site/env/site.sh"
# shellcheck disable=SC2016 # for the shell that is started
ok env -C "$tmp/site" bash -euc '. "$1"; echo "by $DAPO_LAUNCH"' - "$PWD/slurm/lib.sh"
has '^by mpirun$'
rc=0
env -C "$tmp/site" -u DAPO_SITE make -n help >"$tmp/out" 2>&1 || rc=$?
[ $rc -eq 2 ] || die "make does without the site's file"
has 'run .\. env/site.sh. first'
for example in env/*.example.sh; do
    while read -r variable; do
        case $variable in OMPI_MCA_* | LDLIBS=) continue ;; esac
        grep -qE "\b${variable%=}\b" Makefile slurm/lib.sh ||
            die "$example: nobody reads $variable"
    done < <(grep -oE '\b[A-Z][A-Z0-9_]+=' "$example" | sort -u)
    checks=$((checks + 1))
done
passed
