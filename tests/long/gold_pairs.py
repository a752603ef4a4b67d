#!/usr/bin/python3
"""gold_pairs.py GOLDS.jsonl - every pair of different gold answers, the longest ones
aside, as rows of dapo grade."""
import itertools
import json
import sys

LONGEST = 300

texts = set()
for line in open(sys.argv[1], encoding="utf-8"):
    answer = json.loads(line)["answer"]
    texts.update(answer if isinstance(answer, list) else [answer])
texts = sorted(x for x in texts if len(x) <= LONGEST)
for a, b in itertools.combinations(texts, 2):
    name = "\t".join(" ".join(x.split()) for x in (a, b))
    print(json.dumps({"id": name, "gold": a, "pred": b}))
