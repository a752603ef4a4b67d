/* math.h - whether two answers are the same mathematics.
 *
 * Texts in, a verdict out: LaTeX or plain text is normalised, parsed into a tree, and
 * compared: containers (sets, tuples, intervals, relations, matrices ...) element by
 * element, scalars by a ladder of tests of which each answers or passes on.  Bounded
 * before every operation, never by interruption: no text makes it hang, abort, or take
 * much memory.  What can't be decided within the bounds is UNKNOWN.
 *
 * The ladder, in order: equal texts; words; exact rationals (GMP); evaluation modulo a
 * prime at random points (Schwartz 1980, Zippel 1979); balls (Johansson, Arb, 2017);
 * the separation bound of Burnikel, Funke, Mehlhorn, Schirra and Schmitt (ESA 2001);
 * numeric acceptance, flagged; the decimal rule.  Balls and what follows them need
 * FLINT, which is optional at build time: without it they are UNKNOWN.
 */
#ifndef DAPO_MATH_H
#define DAPO_MATH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "dapo/fault.h"

/* Version of these decisions; part of REWARD_VERSION. */
#define MATH_VERSION "math-1"

/* X(name, printed) */
#define MATH_VERDICT_LIST(X)                                                           \
    X(EQUAL, "equal")                                                                  \
    X(EQUAL_NUMERIC, "equal-numeric") /* to 1,000 digits (120 of a Gamma), no proof */ \
    X(DIFFERENT, "different")                                                          \
    X(UNKNOWN, "unknown") /* not decided within the bounds */
enum math_verdict {
#define X(name, text) MATH_##name,
    MATH_VERDICT_LIST(X)
#undef X
        MATH_VERDICT_COUNT
};
const char *math_verdict_text(enum math_verdict v);

/* X(name, printed) - the step that decided. */
#define MATH_STEP_LIST(X)                                                      \
    X(NONE, "none")                                                            \
    X(TEXT, "text")           /* the same text after normalisation */          \
    X(WORDS, "words")         /* words, compared as words */                   \
    X(RATIONAL, "rational")   /* exact rational numbers */                     \
    X(MODULAR, "modular")     /* modulo a prime at random points */            \
    X(BALL, "ball")           /* disjoint balls at a point */                  \
    X(BOUND, "bound")         /* closer than two different values can be */    \
    X(NUMERIC, "numeric")     /* equal to the highest precision, no proof */   \
    X(DECIMAL, "decimal")     /* within half a unit of the sixth decimal */    \
    X(UNIT, "unit")           /* units that differ or don't convert */         \
    X(SHAPE, "shape")         /* another kind of object, or another size */    \
    X(ELEMENT, "element")     /* an element, bound or entry without a match */ \
    X(RELATION, "relation")   /* equations, inequalities */                    \
    X(PARSE, "parse")         /* a side can't be read as mathematics */        \
    X(LIMIT, "limit")         /* a side is over a bound on its size */         \
    X(FUEL, "fuel")           /* the work allowed for one pair is spent */     \
    X(UNDECIDED, "undecided") /* every step passed on */
enum math_step {
#define X(name, text) MATH_STEP_##name,
    MATH_STEP_LIST(X)
#undef X
        MATH_STEP_COUNT
};
const char *math_step_text(enum math_step s);

struct math_result {
    enum math_verdict verdict;
    enum math_step step;
    int64_t fuel; /* spent; a fixed number for a fixed pair, whatever ran before */
};

/* Work space of one thread: arena, literals, the random points.  At most about 8 MiB
 * with the caches of FLINT, which math_free returns. */
struct math; /* opaque */
int math_new(struct math **out, struct fault *f);
void math_free(struct math *m);

/* Compare two answers, already extracted: bytes of any kind and length, need not end in
 * NUL.  Symmetric, but for a comma between two numbers: 1,5 may answer 3/2, while of a
 * gold 1,5, a list, only 1.5 so written is the same.  Deterministic: the same pair has
 * the same result on every thread and after any other pairs.  Never fails: what is too
 * long (LIMIT) or unreadable (PARSE) is UNKNOWN, nothing at all against something is
 * DIFFERENT, and equal texts are always EQUAL.  Beside equal values, these count as
 * equal:
 *
 * - 5 and x = 5, where the left side names something (x, f(x), \angle A, NO/BO).
 *   x = 5 and y = 5 differ, and so do x + z = 1 and 1.  The last side of a chain
 *   counts, unless it is only approximate.  y = 2x and f(x) = 2x agree.
 * - Equations with a constant factor between them; inequalities in one variable and
 *   the intervals they mean.
 * - Sets and bare lists in any order, \pm as both values.  (a, b) in its order only: as
 *   a tuple, column or vector, as x = a, y = b, or as an open interval where the other
 *   side is one.
 * - A missing unit, base or percent sign: 28% is 28 and 0.28, 90 degrees are 90 and
 *   pi/2.  Two different units or bases differ, those that convert are converted, and
 *   counted things ("ways", "apples") are not told apart.
 * - Units in the spelling of text or, where the other answer has one, of letters: 5 \mu
 * m and 0.005 mm; with the prefixes of the SI.  2 h 30 min and 150 minutes; $18 a day
 *   and $18.
 * - Numbers and their English words, 21 and 21st; \pi \approx 3.14 and either of its
 *   sides, if the one is the other rounded.
 * - An answer and the same with a label ("Total: 5"), a reason ("since ...") or what
 *   goes without saying ("for all real x") around it.
 * - 2:3, 4:6 and 2/3, but not times of day.
 * - Words in any case, without articles and punctuation; the letter of a choice and the
 *   letter with its text; the value of a choice and the letter with that value; AC and
 *   A, C.
 * - Values with a parameter by any letter, and with or without k \in \mathbb{Z} or R.
 * - 2e-1 is 0.2 or 2e - 1, 0.333... is 1/3, 2i + 3j (bold, with hats, or beside a j) is
 *   the tuple (2, 3). */
void math_compare(struct math *m, const char *gold, size_t n_gold, const char *pred,
                  size_t n_pred, struct math_result *out);
/* The same, and print both normalised texts, both trees and each step's finding to
 * `to`. */
void math_explain(struct math *m, const char *gold, size_t n_gold, const char *pred,
                  size_t n_pred, FILE *to, struct math_result *out);

/* The libraries in use and their versions, "GMP 6.2.1, FLINT 2.9.0 with Arb 2.23.0" or
 * "GMP 6.2.1, no FLINT". */
const char *math_libraries(void);
/* Whether FLINT is one of them. */
bool math_has_flint(void);

#endif
