# cluster.sh - a throw-away Slurm of several nodes on this machine, for tests: sourced
# after tests/cli/lib.sh.  MINI_SLURM names the script that starts and stops it.
# shellcheck shell=bash disable=SC2154 # what lib.sh and the test set
mini=${MINI_SLURM:-../shared/mini-slurm}
for tool in "$mini" munged slurmctld slurmd unshare; do
    if ! command -v "$tool" >/dev/null || ((EUID)); then
        echo "skipped: $name: $tool is missing or this is not root (slurmctld slurmd" \
            "slurm-client munge slurm-wlm-basic-plugins, MINI_SLURM=script)"
        exit 77
    fi
done
mini=$(realpath "$(command -v "$mini")")

# cluster NODES: start one, to be stopped when the test ends.
cluster() {
    chmod a+x "$tmp" # munged wants its socket within reach
    "$mini" start "$tmp/cluster" --nodes "$1" --cpus 8 --gpus 0 >"$tmp/start" 2>&1 ||
        die "no cluster: $(cat "$tmp/start")"
    trap '"$mini" stop "$tmp/cluster" >/dev/null 2>&1 || true; rm -rf "$tmp"' EXIT
    # shellcheck source=/dev/null
    . "$tmp/cluster/env.sh"
}
crash() { "$mini" crash "$tmp/cluster" "$1"; }
boot() { "$mini" boot "$tmp/cluster" "$1"; }

# state JOB: what Slurm says of it.  until_true COMMAND...: wait for it, a minute or
# PATIENCE seconds.  Of $job, whose output goes to $log: ended STATE, says PATTERN.
state() {
    squeue -h -t all -j "$1" -o %T
}
until_true() {
    local end=$((SECONDS + ${PATIENCE:-60}))
    until "$@"; do
        ((SECONDS < end)) || die "in vain: $* (job: $(state "$job"), log: $(
            grep "^slurm" "$log"
            tail -n 5 "$log"
        ))"
        sleep 0.2
    done
    checks=$((checks + 1))
}
ended() { [[ $(state "$job") == "$1" ]]; }
says() { grep -qE -- "$1" "$log" 2>/dev/null; }
