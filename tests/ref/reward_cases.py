"""Expected verdicts of the official DAPO grader, one JSON object per line.

    python3 tests/ref/reward_cases.py MATH_DAPO.PY [RANDOM [SEED]] > tests/ref/reward_cases.jsonl

MATH_DAPO.PY is verl/utils/reward_score/math_dapo.py of verl 0.4.0 (`pip download
--no-deps verl==0.4.0`), whose rules are those of BytedTsinghua-SIA/DAPO's eval/.
Rows: {gold, text, acc, pred} for whole responses, {raw, normal} for the normal form.
"""
import importlib.util
import json
import random
import sys

FRAGMENTS = [
    "Answer:", "answer :", "ANSWER:\n", "An\u017fwer:", "Answer", " ", "  ", "\n", "\n\n",
    "\r", "\t", "\u3000", "\u2028", "\x1c", "34", "3", "4", "0", "-", "+", ",", "1,234",
    ".", "$", "$$", ".$", "\\$", "\\ ", "=", "x = ", "a ", "an ", "mbox{", "\\mbox{m}",
    "\\text{", "\\text{and}", ",\\text{and}", "\\text{m}", "\\text{s}", "\\text{.}",
    "\\text{}^2", "\\text{}", "\\textbf{", "\\overline{", "\\boxed{", "{", "}", "}}",
    "\\frac", "\\frac{", "\\frac12", "frac", "\\sqrt", "\\sqrt{", "\\sqrt2", "sqrt",
    "square", "units", "km", "cm", "dollars", "degrees", "points", "s u e", "cents",
    "^\\circ", "^{\\circ}", "\\;", ",\\!", "{,}", '"', "\\dots", "\\ldots",
    "\\mathrm{th}", "\u00b2", "\uff13", "\u5ea6", "\u2212", "\\%", "\\(", "\\)", "x", "\U0001d7d8",
]

GOLD_34 = [
    "Answer: 34", "Answer:34", "answer : 34", "Answer:\n34", "Answer: $34$",
    "Answer: $34$.", "Answer: 34$", "Answer: \\boxed{34}", "Answer: x = 34",
    "Answer: 34 units", "Answer: 34 cm", "Answer: 34^\\circ", "Answer: \\$34",
    "Answer: \\text{34}", "Answer: 34\\text{ units}", "Answer: m+n=34", "Answer: 3 4",
    "Answer: 34 degrees", "Final Answer: 34", "Answer: 34\r", "Answer: \\overline{34}",
    "Answer: 34\n" + "x" * 289, "Answer: 34\n" + "x" * 290, "Answer: 34\n" + "\u4e2d" * 280,
    "Answer: 34\n" + "\u4e2d" * 290, "Answer: 34.", "**Answer: 34**", "**Answer:** 34",
    "The answer is 34", "Answer: 34.0", "Answer: 034", "Answer: 34\u00b0", "Answer: 34\\%",
    "Answer: +34", "Answer: 41 Answer: 34", "Answer: 34 Answer: 41", "Answer\uff1a34",
    "Answer: 34 (thirty-four)", "Answer: 34<|im_end|>", "Answer: \\(34\\)",
    "Answer: \\[34\\]", "Answer: 34, 35", "Answer:", "Answer: ", "Answer:\n", "Answer: \n",
    "Answer:\n \n\n", "Answer: \\boxed{34", "\\boxed{34}", "Answer: 41\nAnswer: 34",
    "An\u017fwer: 34", "", "Answer: \n Answer: 34",
]
OTHERS = [
    ("1234", "Answer: 1,234"), ("1234", "Answer: 1{,}234"), ("1234", "Answer: 1\\,234"),
    ("-3", "Answer: -3"), ("-3", "Answer: \u22123"), ("3", "Answer: +3"),
    ("42", "Answer: 41\nAnswer: 42"), ("\\frac{1}{2}", "Answer: \\frac12"),
    ("\\frac12", "Answer: \\frac{1}{2}"), ("\\sqrt{2}", "Answer: \\sqrt2"),
    ("3435", "Answer: 34, 35"), ("0", "Answer: 0"), ("-0", "Answer: 0"),
    ("12345678901234567890123", "Answer: 12,345,678,901,234,567,890,123"),
    ("1\uff12", "Answer: 1,\uff12"), ("bc", "Answer: a b c"),
]
RAW = [
    "x = 42", "an answer", "42 square", "100 dollars", "\\text{hello}", "\\boxed{42}",
    "1,234,567", "a b c", "$1$ and $2$\n$3$ $4$", "$1\n2$", "\\text{a\nb}", "\\boxed{1}2}3",
    "\\boxed{1\n}2}", "\\frac\n12", "\\frac1\n2", "\\sqrt\n", "\\text{\ns}", "\\text{\n}",
    "\\text{\\text{1}}", ",", "", "\u00b2,\u00b2", "\u2460,\u2460", " \u30003\u3000 ",
]


def main():
    spec = importlib.util.spec_from_file_location("math_dapo", sys.argv[1])
    ref = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ref)
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    rng = random.Random(int(sys.argv[3]) if len(sys.argv) > 3 else 1)

    def some(most):
        return "".join(rng.choice(FRAGMENTS) for _ in range(rng.randint(0, most)))

    cases = [("34", t) for t in GOLD_34] + OTHERS
    raws = RAW + [some(8) for _ in range(count)]
    for _ in range(count):
        text = some(4) + rng.choice(["Answer:", "answer: ", ""]) + some(6)
        gold = rng.choice(["34", some(4), text.split(":")[-1]])
        cases.append((gold, text))
    for gold, text in cases:
        if "\0" in gold:
            continue
        r = ref.compute_score(text, gold)
        print(json.dumps(dict(gold=gold, text=text, acc=bool(r["acc"]), pred=r["pred"])))
    for raw in raws:
        print(json.dumps(dict(raw=raw, normal=ref.normalize_final_answer(raw))))


main()
