/* field.c - a prime field that holds what answers are made of.
 *
 * p = 1 modulo FIELD_CYCLE, so it has a root of unity for every angle k pi / n with n
 * dividing 720720, hence exact sines and cosines of those; and every prime below 100 is
 * a square modulo p.  A ring homomorphism from the integers of the real field so built,
 * with denominators prime to p, sends equal numbers to equal residues; so unequal
 * residues prove unequal numbers.  The square roots of 2, 3, 5, 7, 11 and 13 lie in the
 * cyclotomic field already and are Gauss sums of its roots of unity, with the sign that
 * makes them positive (Ireland and Rosen, A Classical Introduction to Modern Number
 * Theory, chapter 6); those of other primes are independent of it, so any sign will do.
 *
 * Residues are kept in Montgomery form, a 2^64 mod p (Montgomery 1985).
 */
#include "math/scalar.h"

__extension__ typedef unsigned __int128 wide;

#define P FIELD_PRIME
/* An element of order FIELD_CYCLE; p - 1 = 2^7 3^5 5 7 11 13 599 1087 45497. */
#define ZETA UINT64_C(1147727124039641843)
enum { TWOS = 7 }; /* p - 1 = 2^7 * odd */

const unsigned field_small_prime[FIELD_SMALL] = {2,  3,  5,  7,  11, 13, 17, 19, 23,
                                                 29, 31, 37, 41, 43, 47, 53, 59, 61,
                                                 67, 71, 73, 79, 83, 89, 97};

/* -1 / p modulo 2^64, by Newton's iteration: each step doubles the bits. */
static inline uint64_t minus_inverse(void)
{
    uint64_t x = P;

    for (int i = 0; i < 5; i++)
        x *= 2 - P * x;
    return -x;
}

uint64_t field_mul(uint64_t a, uint64_t b)
{
    wide t = (wide)a * b;
    uint64_t m = (uint64_t)t * minus_inverse();
    uint64_t r = (uint64_t)((t + (wide)m * P) >> 64);

    return r >= P ? r - P : r;
}

uint64_t field_add(uint64_t a, uint64_t b)
{
    uint64_t r = a + b;

    return r >= P ? r - P : r;
}

uint64_t field_sub(uint64_t a, uint64_t b)
{
    return a >= b ? a - b : a + P - b;
}

uint64_t field_of(uint64_t n)
{
    return (uint64_t)(((wide)(n % P) << 64) % P);
}

uint64_t field_pow(uint64_t a, uint64_t e)
{
    uint64_t r = field_of(1);

    for (; e; e >>= 1) {
        if (e & 1)
            r = field_mul(r, a);
        a = field_mul(a, a);
    }
    return r;
}

uint64_t field_inverse(uint64_t a)
{
    return field_pow(a, P - 2);
}

uint64_t field_integer(mpz_srcptr n)
{
    return field_of(mpz_fdiv_ui(n, P));
}

uint64_t field_exponent(mpz_srcptr n)
{
    return mpz_fdiv_ui(n, P - 1);
}

/* Tonelli and Shanks. */
bool field_root(uint64_t a, uint64_t *out)
{
    const uint64_t one = field_of(1), odd = (P - 1) >> TWOS;
    /* 131 generates the group, so this has order 2^TWOS */
    uint64_t c = field_pow(field_of(131), odd);
    uint64_t x = field_pow(a, (odd + 1) / 2), t = field_pow(a, odd);
    int m = TWOS;

    if (!a || field_pow(a, (P - 1) / 2) != one)
        return false;
    while (t != one) {
        uint64_t b = c;
        int i = 0;

        for (uint64_t y = t; y != one; i++)
            y = field_mul(y, y);
        for (int k = 0; k < m - i - 1; k++)
            b = field_mul(b, b);
        x = field_mul(x, b);
        c = field_mul(b, b);
        t = field_mul(t, c);
        m = i;
    }
    *out = x;
    return true;
}

bool field_unity(const struct field *f, mpq_srcptr turn, uint64_t *out)
{
    const unsigned long half = FIELD_CYCLE / 2;
    unsigned long den;

    if (mpz_cmp_ui(mpq_denref(turn), half) > 0)
        return false;
    den = mpz_get_ui(mpq_denref(turn));
    if (half % den)
        return false;
    *out = field_pow(f->zeta, mpz_fdiv_ui(mpq_numref(turn), 2 * den) * (half / den));
    return true;
}

/* The square root of the k-th small prime q as a sum of q-th roots of unity. */
static uint64_t gauss_sum(const struct field *f, unsigned q)
{
    uint64_t w = field_pow(f->zeta, FIELD_CYCLE / (q == 2 ? 8 : q)), sum = 0, term = w;

    if (q == 2)
        return field_add(w, field_inverse(w));
    for (unsigned k = 1; k < q; k++, term = field_mul(term, w)) {
        bool square = false;

        for (unsigned j = 1; j < q; j++)
            square |= j * j % q == k;
        sum = square ? field_add(sum, term) : field_sub(sum, term);
    }
    return q % 4 == 1 ? sum : field_mul(sum, field_inverse(f->i));
}

void field_open(struct field *f)
{
    f->one = field_of(1);
    f->half = field_inverse(field_of(2));
    f->zeta = field_of(ZETA);
    f->i = field_pow(f->zeta, FIELD_CYCLE / 4);
    for (int k = 0; k < FIELD_SMALL; k++) {
        unsigned q = field_small_prime[k];

        if (FIELD_CYCLE % q == 0)
            f->root[k] = gauss_sum(f, q);
        else
            field_root(field_of(q), &f->root[k]);
    }
    for (unsigned k = 0; k <= FIELD_ANGLES; k++) {
        uint64_t w = field_pow(f->zeta, (uint64_t)k * (FIELD_CYCLE / 2 / FIELD_ANGLES));
        uint64_t v = field_inverse(w), c = field_mul(field_add(w, v), f->half);
        uint64_t is = field_mul(field_sub(w, v), f->half); /* i sin */

        f->cos[k] = c;
        if (k < FIELD_ANGLES / 2)
            f->tan[k] = field_mul(is, field_inverse(field_mul(f->i, c)));
    }
}
