/* factor.c - rational numbers by their small primes. */
#include "math/scalar.h"

/* Takes every power of a small prime out of n; what is left comes last. */
static void small_primes(mpz_ptr n, int sign, mpz_ptr prime, each_prime *each,
                         void *arg)
{
    for (int k = 0; k < FIELD_SMALL && mpz_cmp_ui(n, 1) > 0; k++) {
        if (!mpz_divisible_ui_p(n, field_small_prime[k]))
            continue;
        mpz_set_ui(prime, field_small_prime[k]);
        each(&(struct prime_power){prime, k, sign * (long)mpz_remove(n, n, prime)},
             arg);
    }
    if (mpz_cmp_ui(n, 1) > 0)
        each(&(struct prime_power){n, -1, sign}, arg);
}

bool rational_factor(struct scalar *s, mpq_srcptr q, each_prime *each, void *arg)
{
    mpq_ptr left = rational_take(s), prime = rational_take(s);
    bool ok = left && prime &&
              fuel_spend(s->math, 200 + (int64_t)rational_bits(q) * FIELD_SMALL / 16);

    if (ok) {
        mpq_set(left, q);
        small_primes(mpq_numref(left), 1, mpq_numref(prime), each, arg);
        small_primes(mpq_denref(left), -1, mpq_numref(prime), each, arg);
    }
    rational_give(s, (left != NULL) + (prime != NULL));
    return ok;
}

/* -- the logarithm at a point of integers -------------------------------------------
 */
struct log_work {
    const struct point *at;
    int64_t sum; /* |e| <= MAX_BITS, the integers below 2^16, few primes: no overflow */
};

static void add_log(const struct prime_power *p, void *arg)
{
    struct log_work *w = arg;

    w->sum += p->e * point_log(w->at, p->prime);
}

bool rational_log(struct scalar *s, const struct point *at, mpq_ptr q)
{
    struct log_work w = {.at = at};

    if (mpq_sgn(q) <= 0 || !rational_factor(s, q, add_log, &w))
        return false;
    mpq_set_si(q, w.sum, 1);
    return true;
}
