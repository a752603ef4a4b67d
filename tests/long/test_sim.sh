#!/usr/bin/env bash
# dapo simulate against every table of the Python simulation, and at full size: 1,000
# steps of 512 groups of 16 on 4,096 replicas.
. tests/cli/lib.sh
for table in tests/ref/sim/b4.txt tests/ref/sim/b512.txt; do
    DAPO=$dapo ok "$python" tests/ref/sim/compare.py "$table"
    tail -n 1 "$tmp/out"
done
printf '[rollout]\nmax_tokens = 1024\nslots = 32\n[reward]\noverlong = off\n' >"$tmp/job.ini"
time ok "$dapo" simulate "$tmp/job.ini" --steps 1000 --replicas 4096
has '^ +[0-9]'
passed
