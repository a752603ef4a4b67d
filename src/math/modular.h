/* modular.h - private to modular*.c: a tree as residues at random points of the field.
 *
 * Each lane is one point: symbols differ from lane to lane, constants do not.  What the
 * field can't express (most roots, functions) is a residue hashed from its argument's:
 * equal arguments give equal values, which is congruence closure.
 */
#ifndef DAPO_MATH_MODULAR_H
#define DAPO_MATH_MODULAR_H

#include "math/scalar.h"

enum { LANES = 3, ALL_LANES = (1 << LANES) - 1 };

struct residues {
    uint64_t v[LANES];
    unsigned defined; /* bit k: lane k has a value; the others divide by zero */
};

struct modular {
    struct scalar *s;
    const struct field *f;
    bool opaque; /* a hashed value was used: unequal residues prove nothing */
    bool pi, e;  /* each is transcendental; nothing is known of the two together */
};

struct residues modular_value(struct modular *w, const struct node *a);
struct residues modular_power(struct modular *w, const struct node *a);
struct residues modular_function(struct modular *w, const struct node *a);
/* e^u, or e^{iu}: products of e^{each term}, each to the power of its rational
 * coefficient; so sums of angles and multiples of them agree. */
struct residues modular_exp(struct modular *w, const struct node *u, bool times_i);
/* q^{1/k} of an exact q, k >= 2: the real root of a negative q if k is odd. */
struct residues modular_root(struct modular *w, mpq_srcptr q, mpz_srcptr k);

struct residues modular_pi(struct modular *w);
struct residues modular_e(struct modular *w);

struct residues residues_same(uint64_t v);
struct residues residues_none(void);
struct residues residues_of(mpq_srcptr q);
struct residues residues_add(struct residues a, struct residues b);
struct residues residues_mul(struct residues a, struct residues b);
struct residues residues_negate(struct residues a);
struct residues residues_inverse(struct residues a); /* of 0: not defined */
struct residues residues_pow(struct residues a, mpz_srcptr e);
struct residues residues_small_pow(struct residues a, long e);
/* A value that depends on `tag` and on a alone; marks w as opaque. */
struct residues residues_hash(struct modular *w, uint64_t tag, struct residues a);
/* Likewise of a and b, in this order. */
struct residues residues_hash_two(struct modular *w, uint64_t tag, struct residues a,
                                  struct residues b);
/* Whether a is the one of a, -a that stands for both in hashes of odd and even
 * functions; 0 is. */
bool residues_positive(struct residues a);

/* Tags of residues_hash: a function's tag is TAG_FUNCTION + its number. */
enum {
    TAG_ROOT = 1,
    TAG_EXP,
    TAG_LN,
    TAG_POWER,
    TAG_FACTORIAL,
    TAG_BINOMIAL,
    TAG_ABS,
    TAG_CALL,
    TAG_OPAQUE,
    TAG_SYMBOL,
    TAG_KIND = 64,
    TAG_FUNCTION = 256
};

#endif
