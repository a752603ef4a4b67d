/* scalar.h - private to the ladder of scalar.c: what its steps share.
 *
 * rational.c, factor.c, remainder.c   exact rational numbers, primes, remainders
 * field.c     the prime field, its roots of unity and square roots
 * modular.c, modular_power.c, modular_function.c   a tree at random points of the field
 * point.c     random points for what follows
 * ball.c, ball_power.c, ball_function.c   a tree at a point as a complex ball (FLINT)
 * bound.c     the separation bound
 * decide.c    balls and the bound as steps of the ladder
 * scalar.c    the ladder
 */
#ifndef DAPO_MATH_SCALAR_H
#define DAPO_MATH_SCALAR_H

#include "math/tree.h"

enum {
    MAX_FUEL = 20 * 1000 * 1000, /* for one pair of answers; about a nanosecond each */
    MAX_BITS = 65536,            /* numerator and denominator of an exact rational */
    MAX_FACTORIAL = 5000,        /* the largest n! taken exactly */
    MAX_BINOMIAL = 20000,        /* (n choose k) is taken exactly for n below this */
    MAX_SYMBOLS = 64,            /* distinct symbols of a pair that balls take */
    MAX_TEMPS = 4 * MAX_DEPTH,   /* rationals in use at once */
    MAX_PROOF = 20000,           /* bits of precision of a proof by separation */
    NUMERIC_BITS = 3400,         /* precision of numeric acceptance ... */
    NUMERIC_DIGITS_BITS = 3322,  /* ... which asks for 1,000 digits */
    GAMMA_BITS = 512,            /* the most precision of a Gamma function ... */
    GAMMA_DIGITS_BITS = 400      /* ... and what is then asked for */
};

/* How an evaluation ended. */
enum value {
    VALUE_OK,
    VALUE_PASS,     /* not this step's: not exact, not algebraic, over a bound */
    VALUE_UNDEFINED /* 1/0, log 0, tan 90 degrees */
};

/* -- points (point.c) ----------------------------------------------------------------
 */
/* Values for the symbols of a pair: dyadic reals num / 2^shift.  At a point of integers
 * pi, e and the logarithms of primes are integers too: what is algebraic in them as
 * indeterminates is algebraic there. */
struct point {
    bool integers;
    int n, shift;
    const char *name[MAX_SYMBOLS];
    int64_t num[MAX_SYMBOLS];
    bool exponent[MAX_SYMBOLS]; /* stands in an exponent: small integers only */
    int64_t pi, e;              /* of a point of integers */
    uint32_t draw;              /* which random point this is */
};

/* What the nodes of a tree are, for choosing steps. */
struct traits {
    bool symbols, i, infinity, unreadable;
};

void traits_add(struct traits *t, const struct node *a);
/* The symbols of `a` join the point; false: over MAX_SYMBOLS. */
bool point_symbols(struct point *p, const struct node *a);
/* The k-th random point: reals of several ranges, positive and negative, or integers.
 */
void point_draw(struct point *p, int k, bool integers);
/* The value of a symbol as a rational; false if the point has none. */
bool point_value(const struct point *p, const char *name, mpq_ptr out);
/* The integer that stands for ln of a prime (or of a number without small factors). */
int64_t point_log(const struct point *p, mpz_srcptr prime);

/* -- the prime field (field.c) -------------------------------------------------------
 */
/* Residues in Montgomery form. */
#define FIELD_PRIME UINT64_C(4611683058781518721)
enum {
    FIELD_CYCLE = 1441440, /* 2^5 3^2 5 7 11 13: order of `zeta` */
    FIELD_SMALL = 25,      /* primes below 100: each a square in the field */
    FIELD_ANGLES = 120     /* tables in steps of pi / 120 */
};
struct field {
    uint64_t one, i, half;
    uint64_t zeta;                  /* stands for e^{2 pi i / FIELD_CYCLE} */
    uint64_t root[FIELD_SMALL];     /* of the small primes; in one tower with zeta */
    uint64_t cos[FIELD_ANGLES + 1]; /* of k pi / FIELD_ANGLES */
    uint64_t tan[FIELD_ANGLES / 2]; /* likewise, below pi / 2 */
};
extern const unsigned field_small_prime[FIELD_SMALL];
void field_open(struct field *f);
uint64_t field_add(uint64_t a, uint64_t b);
uint64_t field_sub(uint64_t a, uint64_t b);
uint64_t field_mul(uint64_t a, uint64_t b);
uint64_t field_pow(uint64_t a, uint64_t e);
uint64_t field_inverse(uint64_t a); /* of 0: 0 */
uint64_t field_of(uint64_t n);      /* the residue of an integer */
uint64_t field_integer(mpz_srcptr n);
/* The residue of an integer modulo p - 1, for exponents. */
uint64_t field_exponent(mpz_srcptr n);
/* A square root; false if a is not a square. */
bool field_root(uint64_t a, uint64_t *out);
/* e^{pi i num / den}; false unless den divides FIELD_CYCLE / 2. */
bool field_unity(const struct field *f, mpq_srcptr turn, uint64_t *out);

/* -- the ladder's own work space -----------------------------------------------------
 */
struct scalar {
    struct field field;
    struct point point;
    mpq_t temp[MAX_TEMPS];
    int n_temps;
    struct math *math; /* for its fuel */
};

/* Charge the work; false if the pair's fuel is spent. */
bool fuel_spend(struct math *m, int64_t work);

/* -- exact rationals (rational.c) ----------------------------------------------------
 */
/* A temporary; NULL if all are in use.  rational_give returns the last n taken. */
mpq_ptr rational_take(struct scalar *s);
void rational_give(struct scalar *s, int n);
/* The exact value of a constant tree; with `at`, of a tree whose symbols have the
 * values of a point.  VALUE_PASS: not rational, or not known to be. */
enum value rational_value(struct scalar *s, const struct node *a,
                          const struct point *at, mpq_ptr out);
/* Whether the constant a is q * pi with an exact q: an angle of known sine (turn.c). */
bool rational_turn(struct scalar *s, const struct node *a, mpq_ptr q);
/* A unit that may stand inside a scalar: angles, percent and counted things.  *factor
 * is what the number is multiplied with; *degrees: and with pi. */
bool rational_unit(const struct unit *u, mpq_ptr factor, bool *degrees);
size_t rational_bits(mpq_srcptr q);
/* Whether x op y stays within MAX_BITS; charges for the operation and its gcd. */
bool rational_fits(struct scalar *s, mpq_srcptr x, mpq_srcptr y);
/* out = the remainder of an integer by the integer n > 0, though a itself be too large:
 * sums, products and powers (remainder.c). */
bool rational_remainder(struct scalar *s, const struct node *a, mpq_srcptr n,
                        mpq_ptr out);

/* -- primes (factor.c) ---------------------------------------------------------- */
struct prime_power {
    mpz_srcptr prime; /* what is left without small primes comes as if it were one */
    int small;        /* index in field_small_prime; -1: what is left */
    long e;
};
typedef void each_prime(const struct prime_power *p, void *arg);
/* Calls `each` for the prime powers of a q > 0; false: over a bound. */
bool rational_factor(struct scalar *s, mpq_srcptr q, each_prime *each, void *arg);
/* q = ln q at a point of integers; false unless q > 0. */
bool rational_log(struct scalar *s, const struct point *at, mpq_ptr q);

/* -- modulo a prime (modular.c) ------------------------------------------------------
 */

enum finding { FINDING_PASS, FINDING_EQUAL, FINDING_DIFFERENT };
enum finding modular_compare(struct scalar *s, const struct node *a,
                             const struct node *b);
/* Whether a = c * b with a constant c. */
enum finding modular_proportional(struct scalar *s, const struct node *a,
                                  const struct node *b);

/* -- the separation bound (bound.c) --------------------------------------------- */
/* What a proof that a = b at a point of integers takes: |a - b| < 2^-bits. */
struct bound {
    double bits;
    bool replaced; /* by integers: symbols, pi, e or a logarithm */
};
/* false: not algebraic there, or over a bound. */
bool bound_find(struct scalar *s, const struct point *at, const struct node *a,
                const struct node *b, struct bound *out);

/* -- balls and the bound (decide.c); all pass on without FLINT ------------------ */
/* Steps d to f; UNKNOWN if they pass on. */
struct math_result ball_compare(struct scalar *s, const struct node *a,
                                const struct node *b);
/* Whether the constant a is d by the decimal rule; EQUAL, DIFFERENT or UNKNOWN. */
enum math_verdict ball_decimal(struct scalar *s, const struct node *a, mpq_srcptr d);
/* *sign = that of a - b, real constants; false if it isn't known not to be 0. */
bool ball_sign(struct scalar *s, const struct node *a, const struct node *b, int *sign);
/* As ball_compare, of a and c * b for some constant c, with its sign if it is real. */
struct math_result ball_proportional(struct scalar *s, const struct node *a,
                                     const struct node *b, int *sign);
/* *sign = that of a / b at some point where both are real and not 0, else 0. */
void ball_ratio_sign(struct scalar *s, const struct node *a, const struct node *b,
                     int *sign);

#endif
