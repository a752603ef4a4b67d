#!/usr/bin/env bash
# test_faults.sh - runs that are disturbed from within and without: no memory at some call
# on some rank, a disk that is full or broken, closed streams, signals at any moment,
# damaged checkpoints, going back to an earlier step.
. tests/cli/lib.sh
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
job=$tmp/c/job.ini
cd "$tmp/c/in"
c=$tmp/c/runs/r/checkpoints
r=$tmp/c/runs/r/rollouts
fresh() { rm -rf "$tmp/c/runs"; }
train() { "$dapo" train "$job" "$@"; }

# -- one allocation fails, on one rank: everyone ends, with one sentence ---------------
cat >"$tmp/short" <<X
#!/usr/bin/env bash
LD_PRELOAD=$tmp/fail_alloc.so exec $dapo "\$@"
X
chmod +x "$tmp/short"
${CC:-cc} -shared -fPIC -O1 -o "$tmp/fail_alloc.so" "$OLDPWD/tests/cli/fail_alloc.c"

# starving DIR RANKS: the command; two steps, saved at the end only.
starving() {
    on "$2" "$tmp/short" train "$job" --set run.dir="$1" --set run.steps=2 \
        --set run.save_every=0 --set data.eval= --set "ranks.learners=$((1 + $2 / 4))" \
        --set loss.kl_coef=0.1
}

# starved RANKS RANK CALL [FILE]: the call must fail, unless the rank does not come to it
# (how often it waits for a tick differs).  CALL counts from when FILE is in the run.
starved() {
    local rc=0 err dir=$tmp/starved.$1.$2.$3${4:+.step}
    mkdir "$dir"
    [ -z "${4:-}" ] || export FAIL_AFTER=$dir/r/$4
    err=$(FAIL_RANK=$2 FAIL_AT=$3 FAIL_COUNT=$dir/count starving "$dir" "$1" 2>&1 >/dev/null) ||
        rc=$?
    if [ $rc -eq 0 ] && [ "$(cat "$dir/count.$2")" -lt "$3" ]; then
        return 0
    fi
    [ $rc -eq 71 ] || die "call $3 of rank $2 of $1: status $rc: ${err:0:2000}"
    [ "$(grep -cE '^dapo: |; ending the job$' <<<"$err")" -eq 1 ] ||
        die "call $3 of rank $2 of $1: not one sentence: ${err:0:2000}"
}

# starve RANKS RANK N STRIDE [FILE]: N calls: every STRIDE-th from FILE on, or else from
# the last one back and one of those that read the inputs.
starve() {
    local calls i k running=()
    if [ -z "${5:-}" ]; then
        FAIL_COUNT=$tmp/count ok starving "$tmp/sound$1-$2" "$1"
        calls=$(cat "$tmp/count.$2")
        [ "$calls" -gt 500 ] || die "only $calls calls were counted"
    fi
    for ((i = 0; i < $3; i++)); do
        if [ -n "${5:-}" ]; then
            k=$((1 + i * $4))
        else
            k=$((i ? calls - i * $4 : calls / 2))
        fi
        starved "$1" "$2" "$k" ${5:+"$5"} &
        running+=($!)
        if [ ${#running[@]} -ge 4 ]; then
            for pid in "${running[@]}"; do wait "$pid" || exit 1; done
            running=()
        fi
    done
    for pid in ${running[@]+"${running[@]}"}; do wait "$pid" || exit 1; done
    checks=$((checks + $3))
}
second=rollouts/step-000001.h5 # the second step begins when it is there
starve 1 0 8 31
starve 1 0 8 9 $second
starve 3 0 6 31
starve 3 0 12 4 $second
starve 3 2 6 4 $second
starve 5 1 5 6 $second # a learner that is not the root
starve 5 4 4 7

# -- files that can't be written -------------------------------------------------------
fresh
mkdir -p "$tmp/c/runs/r/log.txt"
refused 74 'log.txt: can.t be opened' on 3 "$dapo" train "$job"
fresh
mkdir -p "$tmp/c/runs/r/job.ini"
refused 74 'job.ini: can.t be published' on 3 "$dapo" train "$job"
fresh
mkdir -p "$tmp/c/runs" && touch "$tmp/c/runs/r"
refused 74 'runs/r is not a folder; set run.dir or run.name to another' on 3 "$dapo" train "$job"
fresh
mkdir -p "$tmp/c/runs/r" && touch "$r"
refused 74 'step-000001.h5.tmp: can.t be created' on 3 "$dapo" train "$job"
fresh
full=$tmp/full
mkdir "$full"
if mount -t tmpfs -o size=3m tmpfs "$full" 2>/dev/null; then # only root may
    trap 'umount "$full"; rm -rf "$tmp"' EXIT
    for n in 1 3; do
        rm -rf "$full/r"
        refused 74 'no room for its' on "$n" "$dapo" train "$job" --set run.dir="$full" \
            --set run.steps=500 --set run.keep=0
        [ -z "$(find "$full" -name '*.tmp')" ] || die "a torn file is left"
    done
    umount "$full"
    trap 'rm -rf "$tmp"' EXIT
fi

# -- standard streams that are closed: no file takes their place ------------------------
"$dapo" train "$job" <&- >&- 2>&- || die "closed streams: exit status $?"
ok "$dapo" inspect "$tmp/c/runs/r/rollouts/step-000003.h5"
ok "$dapo" inspect "$c/step-000003.h5"
mkfifo "$tmp/fifo"
"$dapo" score model <"$tmp/fifo" >&- 2>&- &
exec 9>"$tmp/fifo" # it waits for a line now, or will
for ((i = 0; i < 200; i++)); do
    said=$(readlink "/proc/$!/exe" "/proc/$!/fd/1" "/proc/$!/fd/2" | tr '\n' ' ')
    [ "${said%/dev/null /dev/null }" = "$said" ] || break
    sleep 0.02
done
[ $i -lt 200 ] || die "closed streams are left to the next file: $said"
exec 9>&-
rc=0
"$dapo" inspect "$tmp/c/runs/r" >&- 2>"$tmp/err" || rc=$?
[ $rc -eq 74 ] || die "a closed standard output: exit status $rc, not 74"

# -- damaged checkpoints ---------------------------------------------------------------
truncate -s 2000 "$c/step-000003.h5"
refused 65 'rank 0: .*step-000003.h5' on 3 "$dapo" train "$job" --resume 3
refused 74 'rank 0: .*step-000007.h5' on 3 "$dapo" train "$job" --resume 7
ok on 3 "$dapo" train "$job" --set run.log=info
grep -q 'resumed from step=2 ' "$tmp/err" || die "not from step 2: $(cat "$tmp/err")"
printf '\377\377' | dd of="$c/step-000003.h5" bs=1 conv=notrunc status=none \
    seek=$(($(stat -c %s "$c/step-000003.h5") / 2))
refused 65 'step-000003.h5: .* is damaged' on 3 "$dapo" train "$job" --set run.steps=4

# -- what a run may be resumed with ----------------------------------------------------
fresh
ok train
ok train # the run is over: nothing to do
echo '[garbage' >"$tmp/c/runs/r/job.ini"
refused 78 'other settings .loss.clip_low, optimizer.lr.' on 3 "$dapo" train "$job" \
    --set loss.clip_low=0.1 --set optimizer.lr=0.1
sed -i 's/"rms_norm_eps": [^,]*/"rms_norm_eps": 0.001/' model/config.json
grep -q 0.001 model/config.json || die "no rms_norm_eps in config.json"
refused 78 'model.path holds another model' on 1 "$dapo" train "$job"
sed -i 's/"rms_norm_eps": [^,]*/"rms_norm_eps": 1e-06/' model/config.json
ok train --set run.steps=1 # fewer than were done
grep -q '^steps = 1$' "$tmp/c/runs/r/job.ini" || die "job.ini was not written again"

# -- back to an earlier step -----------------------------------------------------------
fresh
ok train --set run.steps=6 --set run.keep=0
ok train --set run.steps=3 --set run.keep=0 --resume 2
[ "$(cat "$c/latest")" = step-000003.h5 ] || die "latest: $(cat "$c/latest")"
[ "$(ls "$r")" = "abandoned
step-000001.h5
step-000002.h5
step-000003.h5" ] || die "step files: $(ls "$r")"
[ "$(find "$r/abandoned" -type f | wc -l)" -eq 3 ] || die "set aside: $(ls "$r/abandoned")"
ok train --set run.steps=4 --set run.keep=0 --set run.log=info
grep -q 'resumed from step=3 ' "$tmp/err" || die "not from step 3: $(cat "$tmp/err")"
ok train --set run.steps=3 --set run.keep=0 --resume 2 # and again: two branches left
[ "$(cd "$r/abandoned" && echo *)" = "step-000004.h5 step-000004.h5.2 step-000005.h5 step-000006.h5" ] ||
    die "set aside in another's place: $(ls "$r/abandoned")"
checks=$((checks + 4))

# -- a signal to one rank, at any moment -----------------------------------------------
# asked RANKS RANK PATTERN DELAY [--set ...]: exit status 75 and the sentence.
asked() {
    local n=$1 rank=$2 pattern=$3 delay=$4 pid rc=0 i pids=()
    shift 4
    fresh
    on "$n" "$dapo" train "$job" --set run.steps=100000 "$@" >"$tmp/out" 2>"$tmp/err" &
    pid=$!
    for ((i = 0; i < 600 && ${#pids[@]} < n; i++)); do
        mapfile -t pids < <(pgrep -f "^$dapo train $job")
        sleep 0.02
    done
    if [ "$delay" = started ]; then
        for ((i = 0; i < 600; i++)); do
            [ ! -s "$tmp/c/runs/r/log.txt" ] || break
            sleep 0.02
        done
        delay=0.1
    fi
    sleep "$delay"
    kill -TERM "${pids[$rank]}"
    wait "$pid" || rc=$?
    [ $rc -eq 75 ] || die "rank $rank of $n after $delay s: status $rc: $(cat "$tmp/err")"
    [ "$(grep -c '^dapo: ' "$tmp/err")" -eq 1 ] || die "not one: $(cat "$tmp/err")"
    grep -qE "^dapo: .*$pattern" "$tmp/err" || die "no '$pattern': $(cat "$tmp/err")"
    checks=$((checks + 1))
}
asked 1 0 'stopped on request after step 0;' started --set eval.samples=4000 --set run.log=info
asked 3 1 'stopped on request after step' 0 --set eval.every=1
asked 3 0 'stopped on request after step' 0.8 --set eval.every=1
asked 3 2 'stopped on request after step' 1.1 --set eval.every=1
asked 5 1 'stopped on request after step' 0.9 --set ranks.learners=2
ok on 3 "$dapo" train "$job" --set run.steps=2
passed
