/* reward.h - from a completion's text to a verdict and a number.
 *
 * Extraction, three graders (equal texts after normalisation, the official DAPO grader,
 * equal mathematics), and the soft overlong penalty.  Pure; texts are untrusted bytes
 * of any length.
 */
#ifndef DAPO_REWARD_H
#define DAPO_REWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "dapo/fault.h"
#include "dapo/group.h"
#include "dapo/math.h"

/* X(name, printed, version) - order of reward.grader's choices. */
#define GRADER_LIST(X)                                                                \
    X(EXACT, "exact", "exact-1") /* \boxed{} or Answer:, normalised text is equal */  \
    X(DAPO, "dapo", "dapo-1") /* the official grader's rules (verl's math_dapo.py) */ \
    X(MATH, "math", MATH_VERSION) /* \boxed{} or Answer:, the same mathematics */
enum grader {
#define X(name, text, version) GRADER_##name,
    GRADER_LIST(X)
#undef X
        GRADER_COUNT
};
const char *grader_text(enum grader g);

/* Version of a grader's rules, written into every file of a run.  A build of
 * GRADER_MATH without FLINT, which decides less, has another one. */
const char *reward_version(enum grader g);
/* Whether `stored`, the versions of a file joined by '/', holds this grader's. */
bool reward_version_in(const char *stored, enum grader g);

struct verdict {
    enum verdict_kind kind;
    bool correct, found; /* equal or equal-numeric; an answer was found at all */
    enum math_step step; /* that decided; TEXT for the graders that compare texts */
    /* Where the answer stands in the response, bytes; 0, 0 if there is none.  Several
     * boxes: from the first one's content to the last one's. */
    size_t offset, len;
    /* The answer itself; valid as long as the response and until the judge's next. */
    const char *answer;
    size_t n_answer;
};

/* A grader and its work space, for one thread.  The same texts have the same verdict
 * with every judge of the same grader and window, whatever it judged before.
 * Only the last `window` code points of a response are read (<= 0 = all of it; a byte
 * outside valid UTF-8 counts as one); both published recipes use 300.  Extraction takes
 * linear time.  0 or FAULT_SYSTEM, as all below.
 *
 * GRADER_DAPO: the last "Answer: ..." line by the official expression
 * (?i)Answer\s*:\s*([^\n]+) (a bare \boxed{} is not an answer there); right iff its
 * normal form is the gold's.  Same verdict as verl 0.4's math_dapo.compute_score,
 * checked on 60,000 random responses.
 *
 * GRADER_EXACT: the last balanced \boxed{...} (or \fbox{...}; white space before the
 * brace is allowed, \{ and \} don't count) that lies wholly in the window, else the
 * line of GRADER_DAPO.  An unbalanced box is passed over for an earlier one; an empty
 * one is found with len 0.  Right iff the normal forms below are equal and not empty.
 *
 * GRADER_MATH: the last box as above; without braces the number behind it (\boxed 5).
 * Boxes that stand side by side are one list: with nothing but commas, "and", "or",
 * white space and math delimiters between them and perhaps a name before them ("y = "),
 * or up to 32 bytes of what ends in "and" and claims nothing else (" papers and ");
 * the same box twice is one answer.  Without a box the last "Answer:" line (or its
 * Chinese word), read generously: emphasis around the word, "answer is:", the
 * full-width colon, no colon where a line starts "Answer $", an answer on the next
 * line, a display or an environment over several lines, "The final answer is X. I hope
 * it is correct."; emphasis, end tokens and a full stop behind it are left off.
 * Never a number from prose.  The same is done with a gold that holds a box or such a
 * line.  Then math_compare; an empty answer or gold is DIFFERENT. */
struct judge; /* opaque */
/* clang-format off */
/* The normal form of GRADER_EXACT, of either side.
 *   delimiters  $ \$ \( \) \[ \] \! \left \right (with their invisible dots) \big...
 *               \displaystyle are dropped; \text \textbf \textit \textrm \mathrm \mathbf
 *               \mbox \boxed \fbox {...} become their content
 *   spaces      white space, ~ \  \quad \, \; \: go, except one space between two words
 *               or numbers ("3 4" isn't 34; 1\,234 is 1234)
 *   commands    \dfrac \tfrac \cfrac -> \frac; \frac12 -> \frac{1}{2}; \sqrt2 ->
 *               \sqrt{2}; \leq \geq \neq -> \le \ge \ne; \% -> %; U+2212 -> -
 *   degrees     ^\circ ^{\circ} \degree and the degree sign are dropped
 *   ends        * (emphasis) and full stops are dropped, then "x=" of a single letter,
 *               then a plus sign
 *   numbers     a plain decimal loses thousands commas (groups of three, no space behind
 *               them), leading zeros, trailing zeros of the fraction and the sign of
 *               zero; .5 -> 0.5.  Digits are text: no precision is lost
 * No value is computed: 1/2 and 0.5 differ, and so do 34 and 34 cm. */
/* clang-format on */
int judge_new(struct judge **out, enum grader g, int window, struct fault *f);
void judge_free(struct judge *j);

/* Judge a response. */
int judge_run(struct judge *j, const char *gold, size_t n_gold, const char *text,
              size_t n, struct verdict *out, struct fault *f);
/* Judge an answer that was extracted before: what the grader finds in it, wherever it
 * stands, else all of it. */
int judge_answer(struct judge *j, const char *gold, size_t n_gold, const char *answer,
                 size_t n, struct verdict *out, struct fault *f);
/* The same, and print to `to` what was extracted and how it was compared. */
int judge_explain(struct judge *j, const char *gold, size_t n_gold, const char *answer,
                  size_t n, FILE *to, struct verdict *out, struct fault *f);
/* Whether a response that says the gold answer word for word is judged right: where it
 * isn't (braces that don't match, longer than the window), no completion can be. */
int judge_gold(struct judge *j, const char *gold, size_t n_gold, bool *good,
               struct fault *f);

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
