#!/usr/bin/env bash
# demo_task.sh - the word problems that jobs/demo_*.ini train on and are judged by: the
# same bytes each time, training and held-out sets disjoint.
set -eu
exec bin/dapo prepare --task arithmetic --out build/demo --train 8000 --eval 256 --sft 0 \
    --seed 42
