/* ball.h - private to math.c, ball*.c and bound.c: FLINT's headers in both layouts. */
#ifndef DAPO_MATH_BALL_H
#define DAPO_MATH_BALL_H

#include "math/scalar.h"

#define MATH_TEXT_OF(x) #x
#define MATH_TEXT(x) MATH_TEXT_OF(x)
#define MATH_GMP_TEXT                                 \
    "GMP " MATH_TEXT(__GNU_MP_VERSION) "." MATH_TEXT( \
        __GNU_MP_VERSION_MINOR) "." MATH_TEXT(__GNU_MP_VERSION_PATCHLEVEL)

#ifdef HAVE_FLINT
#if __has_include(<flint/arb.h>)
#include <flint/acb.h>
#include <flint/arb.h>
#include <flint/flint.h>
#include <flint/fmpq.h>
#define MATH_LIBRARIES MATH_GMP_TEXT ", FLINT " FLINT_VERSION
#else
#include <acb.h>
#include <arb.h>
#include <flint/flint.h>
#include <flint/fmpq.h>
#define MATH_LIBRARIES MATH_GMP_TEXT ", FLINT " FLINT_VERSION " with Arb " ARB_VERSION
#endif

/* One evaluation of a tree as a complex ball. */
struct ball {
    struct scalar *s;
    const struct point *at;
    slong prec;
    bool left_reals; /* a root, logarithm ... of real numbers wasn't real */
    bool capped;     /* a Gamma function: only GAMMA_BITS */
};

/* The value of a tree.  VALUE_OK: `out` encloses it, though perhaps not finitely. */
enum value ball_value(struct ball *w, const struct node *a, acb_t out);
enum value ball_power(struct ball *w, const struct node *a, acb_t out);
enum value ball_function(struct ball *w, const struct node *a, acb_t out);
enum value ball_factorial(struct ball *w, acb_t x);
/* e^x in place; VALUE_PASS if x is not surely below 2^60. */
enum value ball_exp(struct ball *w, acb_t x);
enum value ball_log(struct ball *w, acb_t x);
/* x^q in place by an exact q: the real root if it is odd and x real. */
enum value ball_rational_power(struct ball *w, acb_t x, mpq_srcptr q);
/* An exact value of the tree at the point, as a ball. */
bool ball_exact(struct ball *w, const struct node *a, acb_t out);
void ball_set(struct ball *w, acb_t out, mpq_srcptr q);
bool ball_real(const acb_t x);
bool ball_below(const acb_t x, slong e); /* surely |x| < 2^e */
/* Charge `weight` multiplications, or `weight` elementary functions. */
bool ball_spend(const struct ball *w, int weight);
bool ball_spend_function(const struct ball *w, int weight);
#else
#define MATH_LIBRARIES MATH_GMP_TEXT ", no FLINT"
#endif

#endif
