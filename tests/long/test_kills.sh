#!/usr/bin/env bash
# test_kills.sh [KILLS [SEED [RANKS]]] - invariant 7 at length: 200 times SIGKILL to a random rank
# at a random instant of a short run, which is then started again, until it is over; then
# from its beginning once more.  No start hangs, no torn file gets its final name, a kill
# costs at most the step in flight, and each run ends with the bits of an undisturbed one.
. tests/cli/lib.sh
kills=${1:-200} seed=${2:-7}
ranks=${3:-4} steps=12 n=0 how=undisturbed run=calm stuck=0
echo "$kills kills, seed $seed, $ranks ranks"
RANDOM=$seed
coin_job "$tmp/c"
dapo=$(realpath "$dapo")
compare=$PWD/tests/cli/compare_runs.py
job=$tmp/c/job.ini
cd "$tmp/c/in"

# begin NAME: start the run; $pid is mpirun's.
begin() {
    # shellcheck disable=SC2086 # MPIRUN is a command line
    ${MPIRUN:-mpirun --allow-run-as-root --oversubscribe} -n $ranks "$dapo" train "$job" \
        --set run.dir="$tmp/runs" --set run.name="$1" --set run.steps=$steps \
        --set run.keep=2 --set run.log=info --set data.eval= --set ranks.learners=2 </dev/null >"$tmp/log" 2>&1 &
    pid=$!
}
now() { echo $((${EPOCHREALTIME/./} / 1000)); } # milliseconds
children() { cat "/proc/$1/task"/*/children 2>/dev/null || true; }

# until_begun: until the ranks are there (their ids in $rank), or the start is over.
until_begun() {
    rank=()
    while kill -0 "$pid" 2>/dev/null; do
        read -ra rank <<<"$(children "$pid" | tr '\n' ' ')"
        ((${#rank[@]} < ranks)) || return 0
        sleep 0.01
    done
}
# look_into: where the launcher and its ranks stand, and what they last said.
look_into() {
    local process
    echo "kill $((n + 1)) ($how), $(uptime):"
    ps -o pid,ppid,stat,etimes,time,wchan:20,args -p "$pid" --ppid "$pid"
    for process in "$pid" $(children "$pid"); do
        echo "-- process $process"
        timeout 20 gdb -batch -p "$process" -ex 'thread apply all backtrace 30' 2>/dev/null |
            grep -E '^(Thread|#)' || true
    done
    tail -n 40 "$tmp/log"
    strings -n 8 "$tmp/runs/$run/words" 2>/dev/null || true
}
# until_over: its status in $rc.  Ranks that are still there after a minute hang.
#
# mpirun itself can: a rank killed while it greets the PMIx server inside of mpirun (4.2.2)
# leaves a lock held there, and mpirun waits for it for ever once its ranks are gone.  So a
# launcher without ranks is ended here, and counted.
until_over() {
    local begun=$SECONDS
    while kill -0 "$pid" 2>/dev/null; do
        sleep 0.02
        ((SECONDS - begun >= 20)) || continue
        if ! pgrep -P "$pid" -r D,R,S,T,t >/dev/null; then # but for zombies
            stuck=$((stuck + 1))
            kill -KILL "$pid"
            break
        fi
        ((SECONDS - begun < 60)) && continue
        look_into
        kill -KILL "$pid" "${rank[@]}" 2>/dev/null
        die "kill $((n + 1)) ($how): a hang"
    done
    rc=0
    wait "$pid" || rc=$?
}
until_said() { # PATTERN: until the log has it, or the start is over
    until grep -q "$1" "$tmp/log" || ! kill -0 "$pid" 2>/dev/null; do sleep 0.01; done
}
# random N: below N.
random() { echo $((((RANDOM << 15) + RANDOM) % $1)); }

begin calm
until_begun
a=$(now)
until_said ' step=1 '
b=$(now)
until_over
((rc == 0)) || die "an undisturbed run failed: $(cat "$tmp/log")"
start_ms=$((b - a)) step_ms=$((1 + ($(now) - b) / steps))
echo "undisturbed: first step after $start_ms ms, then $step_ms ms each"

# whole: what the kill left is sound, and cost at most a step.
whole() {
    local reached
    [[ -e $tmp/runs/$run/checkpoints ]] || return 0
    "$dapo" verify --quiet "$tmp/runs/$run" >"$tmp/out" 2>&1 ||
        die "kill $n ($how) left damage: $(cat "$tmp/out")"
    reached=$(sed -n 's/.* step=\([0-9]*\) acc=.*/\1/p' "$tmp/log" | tail -n 1)
    saved=$(sed -n 's/^resumes from step \([0-9-]*\)$/\1/p' "$tmp/out")
    [[ $saved =~ ^[0-9]+$ ]] || saved=0
    ((saved + 1 >= ${reached:-$before} && saved >= before)) ||
        die "kill $n ($how): step ${reached:-?} was done, $before saved; resumes from $saved"
    redone=$((redone + (${reached:-$saved} > saved))) before=$saved
}

# strike: one start and, if it lives that long, one kill; 0 if the run is over.
strike() {
    local victim=$((RANDOM % ranks)) wait_ms
    begin "$run"
    until_begun
    if ((RANDOM % 4 == 0)); then
        wait_ms=$(random "$start_ms") how="rank $victim $wait_ms ms after the launch"
    else
        wait_ms=$(random $((3 * step_ms))) how="rank $victim $wait_ms ms into the steps"
        until_said 'dapo build='
    fi
    sleep "$(printf '%d.%03d' $((wait_ms / 1000)) $((wait_ms % 1000)))"
    [[ -z ${rank[victim]-} ]] || kill -KILL "${rank[victim]}" 2>/dev/null || true
    until_over
    starts=$((starts + 1))
    ((rc)) || return 0
    [[ $rc -eq 137 ]] || die "kill $((n + 1)) ($how): exit status $rc: $(cat "$tmp/log")"
    n=$((n + 1))
    # The phase that the first rank which noticed was in.
    sed -n '/has died; here: /{s/.*here: \([a-z ]*\).*/\1/p;q}' "$tmp/log" >>"$tmp/phases"
    whole
    checks=$((checks + 1))
    return 1
}

runs=0 starts=0 redone=0
: >"$tmp/phases"
while ((n < kills)); do
    runs=$((runs + 1)) run=killed before=0
    rm -rf "$tmp/runs/$run"
    until strike; do :; done
    ok "$python" "$compare" trained,tokens,ledger,weights,metrics \
        "$tmp/runs/calm" "$tmp/runs/$run"
    ok "$dapo" verify "$tmp/runs/$run"
done
echo "$n kills in $starts starts of $runs runs of $steps steps: $redone steps done again," \
    "0 hangs ($stuck of mpirun behind its ranks); in $(sort "$tmp/phases" | uniq -c | awk '{ n = $1; $1 = ""; printf "%s%s %d", s, $0, n; s = "," }')"
passed
