#!/usr/bin/python3
"""gold_pairs.py GOLDS.jsonl N SEED - N random pairs of different gold answers as rows of
dapo grade.  The same arguments give the same pairs."""
import json
import random
import sys

texts = set()
for line in open(sys.argv[1], encoding="utf-8"):
    answer = json.loads(line)["answer"]
    texts.update(answer if isinstance(answer, list) else [answer])
texts = sorted(texts)
draw = random.Random(int(sys.argv[3])).random
left = int(sys.argv[2])
while left:
    a, b = (texts[int(draw() * len(texts))] for _ in range(2))
    if a != b:
        left -= 1
        name = "\t".join(" ".join(x.split()) for x in (a, b))
        print(json.dumps({"id": name, "gold": a, "pred": b}))
