/* compare.h - private: the parts of tree_compare, one file a kind of answer.
 *
 * tree_compare is a list of stages.  Each looks at a pair of trees and either decides
 * it (true, *r set) or passes it on (false).  A stage may rewrite a pair and call
 * tree_compare again; every rewriting makes a tree smaller or plainer, and the level of
 * calls is bounded, so that it ends.  Rewritten trees live until tree_compare returns.
 *
 * Every stage but stage_decimal_comma treats the two sides alike, so that the verdict
 * is symmetric but for a comma between two numbers.
 */
#ifndef DAPO_MATH_COMPARE_H
#define DAPO_MATH_COMPARE_H

#include "math/tree.h"

enum {
    MAX_LEVEL = 2 * MAX_DEPTH, /* of tree_compare within itself */
    MAX_SPANS = 40,            /* intervals of a set of reals */
    COST_PAIR = 100 /* fuel of one pair of trees, beside what scalars spend */
};

/* -- verdicts ---------------------------------------------------------------------- */
struct math_result found(enum math_verdict v, enum math_step step);
static inline bool is_equal(struct math_result r)
{
    return r.verdict == MATH_EQUAL || r.verdict == MATH_EQUAL_NUMERIC;
}
/* Both must hold: DIFFERENT before UNKNOWN before EQUAL_NUMERIC before EQUAL; of two
 * equals the later step. */
struct math_result both(struct math_result a, struct math_result b);
/* One is enough: EQUAL before EQUAL_NUMERIC before UNKNOWN before DIFFERENT. */
struct math_result either(struct math_result a, struct math_result b);

/* -- looking at trees -------------------------------------------------------------- */
bool is_relation(const struct node *a); /* =, <, ..., "and", "or" of such */
bool has_symbol(const struct node *a);  /* a free one, or a call */
/* Whether `part` is in `a`, as a subtree. */
bool has_part(const struct node *a, const struct node *part);
bool is_call(const struct node *a, const char *name);
/* A list's brackets. */
bool is_list(const struct node *a, char open, char close);
static inline bool is_bare(const struct node *a)
{
    return is_list(a, 0, 0);
}
static inline bool is_braces(const struct node *a)
{
    return is_list(a, '{', '}');
}
/* An ordered list: (..), <..>, or [..] of another length than 2. */
bool is_tuple(const struct node *a);
/* Two items in brackets that are an interval, as (a, b) may be. */
bool is_interval(const struct node *a);
bool is_vector(const struct node *a); /* a matrix of one row or one column */
const struct node *named_set(struct math *m, const char *name); /* not copied */
/* a * b^-1 ... as trees; NULL in, NULL out. */
const struct node *tree_times(struct math *m, const struct node *a,
                              const struct node *b);
const struct node *tree_minus(struct math *m, const struct node *a,
                              const struct node *b);
/* A scalar with the degrees and percents in it as numbers; NULL if there is another
 * unit in it, or if it isn't a scalar. */
const struct node *tree_plain(struct math *m, const struct node *a);

/* -- match.c: items against items -------------------------------------------------- */
enum order {
    IN_ORDER,  /* tuples */
    ANY_ORDER, /* bare lists of values: each item as often as it is written */
    AS_SET     /* braces, lists of solutions: how often doesn't matter */
};
/* Equality by tree_compare.  Where it isn't transitive (a decimal stands for more than
 * one number) or not decided, a perfect matching is looked for, over proved pairs
 * first, then numeric, then unknown ones: greedy would depend on the order. */
struct math_result match_items(struct math *m, const struct node *const *a, int na,
                               const struct node *const *b, int nb, enum order order);

/* -- stages ------------------------------------------------------------------------ */
typedef bool compare_stage(struct math *m, const struct node *gold,
                           const struct node *pred, struct math_result *r);
/* wording.c: words, single letters, names. */
compare_stage stage_words;
/* approx.c: \pi \approx 3.14 against \pi. */
compare_stage stage_approximation;
/* assign.c: x = 5 against 5; x = 1, y = 2; (x, y) = (1, 2); x = 1 or x = 2. */
compare_stage stage_system, stage_assignment;
/* quantity.c: units, percent, degrees, currency; bases; ratios and times of day. */
compare_stage stage_quantity, stage_base, stage_ratio;
/* plusminus.c: \pm and \mp become two values. */
compare_stage stage_plusminus;
/* reals.c: intervals, unions, inequalities in one variable as sets of real numbers. */
compare_stage stage_reals;
/* relation.c: equations and inequalities. */
compare_stage stage_relation;
/* family.c: what is said of a parameter, k \in \mathbb{Z}; sets of what fulfils it. */
compare_stage stage_family, stage_builder;
/* readings.c: texts that can be read in two ways. */
compare_stage stage_decimal_comma, stage_choice, stage_letters, stage_exponent;
/* vector.c: sums of unit vectors as tuples. */
compare_stage stage_vector;
/* sets.c: lists, sets, tuples, what has parts; matrix.c: matrices. */
compare_stage stage_point, stage_list, stage_determinant, stage_matrix, stage_parts;

/* wording.c: words that mean a mathematical object ("no solution", "five"), as that
 * object; anything else as it is. */
const struct node *words_meaning(struct math *m, const struct node *a);
/* numerals.c: the number that English words are, "forty-five", "two thirds"; NULL if
 * they are none. */
const struct node *words_number(struct math *m, const char *words);
/* The letter of a multiple-choice answer that goes on in words, "D. it can't be A" or
 * "(D) Alina", of a normalised text; 0 if it isn't one.  *only: nothing but the letter.
 */
char words_choice(const char *normal, bool *only);

/* plusminus.c: the values of `a`, at most MAX_ITEMS; signs go together, \mp against
 * \pm, or each by itself if `free` (at most 4 of them).  One item if there is no sign;
 * NULL over a bound. */
const struct node *plusminus_values(struct math *m, const struct node *a, bool free);

#endif
