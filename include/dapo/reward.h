/* reward.h - from a completion's text to a verdict and a number.
 *
 * Extraction, exact comparison after normalisation, the official DAPO grader, and the
 * soft overlong penalty.  Pure and thread-safe; texts are untrusted bytes of any
 * length.
 */
#ifndef DAPO_REWARD_H
#define DAPO_REWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

/* Version of the grading rules; written into every step file. */
#define REWARD_VERSION "dapo-1/exact-1"

/* X(name, printed) - order of reward.grader's choices. */
#define GRADER_LIST(X)                                                         \
    X(EXACT, "exact") /* \boxed{} or Answer:, normalised text must be equal */ \
    X(DAPO, "dapo")   /* the official grader's rules (verl's math_dapo.py) */
enum grader {
#define X(name, text) GRADER_##name,
    GRADER_LIST(X)
#undef X
        GRADER_COUNT
};

struct verdict {
    bool correct, found; /* right; an answer was found at all */
    size_t offset, len;  /* the extracted answer in the response, bytes; 0, 0 if none */
};

/* Last balanced \boxed{...} (or \fbox{...}; spaces before the brace are allowed, \{ and
 * \} don't count) that lies wholly in the last `window` code points of text[n] (<= 0 =
 * all of it), else the last "Answer: ..." line there by the official expression
 * (?i)Answer\s*:\s*([^\n]+).  An unbalanced box is passed over for an earlier one; an
 * empty one is found with len 0.  A byte outside valid UTF-8 counts as a code point.
 * Linear time, no memory.  Returns whether one was found. */
bool answer_extract(const char *text, size_t n, int window, size_t *offset,
                    size_t *len);

/* Judge a response against the gold answer (a text without NUL).  `window` as above;
 * both published recipes use 300.  0 or FAULT_SYSTEM.
 *
 * GRADER_DAPO   the "Answer:" line only (a bare \boxed{} is not an answer there); right
 *               iff its normal form is the gold's.  Same verdict as verl 0.4's
 *               math_dapo.compute_score, checked on 60,000 random responses.
 * GRADER_EXACT  answer_extract; right iff the normal forms are equal and not empty.
 *               The normal form, of either side:
 *   delimiters  $ \$ \( \) \[ \] \! \left \right (with their invisible dots) \big...
 *               \displaystyle are dropped; \text \textbf \textit \textrm \mathrm
 * \mathbf \mbox \boxed \fbox {...} become their content spaces      white space, ~
 * \  \quad \, \; \: go, except one space between two words or numbers ("3 4" isn't 34;
 * 1\,234 is 1234) commands    \dfrac \tfrac \cfrac -> \frac; \frac12 -> \frac{1}{2};
 * \sqrt2 -> \sqrt{2}; \leq \geq \neq -> \le \ge \ne; \% -> %; U+2212 -> - degrees
 * ^\circ ^{\circ} \degree and the degree sign are dropped ends        * (emphasis) and
 * full stops are dropped, then "x=" of a single letter, then a plus sign numbers     a
 * plain decimal loses thousands commas (groups of three, no space behind them), leading
 * zeros, trailing zeros of the fraction and the sign of zero; .5 -> 0.5.  Digits are
 * text: no precision is lost. No value is computed: 1/2 and 0.5 differ, and so do 34
 * and 34 cm. */
int reward_judge(enum grader g, int window, const char *gold, const char *text,
                 size_t n, struct verdict *out, struct fault *f);

/* The official grader's normal form of answer[n] as a new string
 * in *out (caller frees with free).  A NUL byte in the answer is kept, so *out read as
 * a string ends there; reward_judge compares whole.  0 or FAULT_SYSTEM. */
int reward_normalize_dapo(const char *answer, size_t n, char **out, struct fault *f);

/* Soft overlong penalty, Yu et al. 2025 (arXiv:2503.14476) eq. 13, in [-factor, 0]: 0
 * up to limit - cache, then linear to -factor at limit, -factor beyond.  Lengths in
 * tokens, the stop token counts; 0 < cache <= limit. */
double reward_overlong(int64_t len, int64_t limit, int64_t cache, double factor);
/* The other published shaping: the shaped reward itself, `raw` up to limit - cache and
 * min(raw, the penalty above) beyond.  A wrong answer is not punished twice, a right
 * one falls below 0 at once: limit 20,480 and cache 4,096 make +1 of 18,000 tokens
 * -0.395 and leave -1 of 19,000 alone. */
double reward_overlong_min(double raw, int64_t len, int64_t limit, int64_t cache,
                           double factor);

#endif
