/* point.c - random points: a value for each symbol of a pair. */
#include <string.h>

#include "dapo/mem.h"
#include "dapo/random.h"
#include "math/scalar.h"

/* The draws are a fixed function of the symbol's name and the number of the point. */
enum { SEED = 20260501, LARGE = 60000, SMALL = 40 };

static uint64_t below(uint64_t n, uint64_t name, uint32_t draw)
{
    return random_below(n, SEED, RANDOM_MATH, (uint32_t)name, (uint32_t)(name >> 32),
                        draw, 0);
}

void traits_add(struct traits *t, const struct node *a)
{
    t->symbols |= a->kind == NODE_SYMBOL;
    t->i |= a->kind == NODE_I;
    t->infinity |= a->kind == NODE_INFINITY;
    t->unreadable |= a->kind == NODE_PLUSMINUS;
    for (int i = 0; i < a->n; i++)
        traits_add(t, a->kid[i]);
}

static int find(const struct point *p, const char *name)
{
    int i = 0;

    while (i < p->n && strcmp(p->name[i], name) != 0)
        i++;
    return i;
}

static bool add(struct point *p, const struct node *a, bool exponent)
{
    if (a->kind == NODE_SYMBOL) {
        int i = find(p, a->u.name);

        if (i == MAX_SYMBOLS)
            return false;
        if (i == p->n) {
            p->exponent[i] = false;
            p->name[p->n++] = a->u.name;
        }
        p->exponent[i] |= exponent;
    }
    for (int i = 0; i < a->n; i++)
        if (!add(p, a->kid[i],
                 exponent || (a->kind == NODE_POWER && i == 1) ||
                     (a->kind == NODE_FUNCTION && a->u.fn != FN_GCD) ||
                     a->kind == NODE_FACTORIAL || a->kind == NODE_BINOMIAL))
            return false;
    return true;
}

bool point_symbols(struct point *p, const struct node *a)
{
    return add(p, a, false);
}

/* Reals: the first points are positive, in (0, 4); then of both signs, within 8; then
 * within 256.  Multiples of 2^-20 that aren't integers. */
static int64_t real(uint64_t name, uint32_t draw)
{
    static const struct {
        int64_t low, span;
    } ranges[] = {{0, 4}, {-8, 16}, {0, 4}, {-8, 16}, {-256, 512}};
    int k = (int)(draw % (sizeof ranges / sizeof *ranges));
    int64_t unit = 1 << 20;

    return ranges[k].low * unit +
           (int64_t)(below((uint64_t)(ranges[k].span * unit), name, draw) | 1);
}

static int64_t integer(uint64_t name, uint32_t draw, bool exponent, bool negative)
{
    int64_t v = 2 + (int64_t)below(exponent ? SMALL : LARGE, name, draw);

    return negative && below(2, ~name, draw) ? -v : v;
}

void point_draw(struct point *p, int k, bool integers)
{
    p->integers = integers;
    p->shift = integers ? 0 : 20;
    p->draw = (uint32_t)k + (integers ? 64 : 0);
    for (int i = 0; i < p->n; i++) {
        uint64_t name = hash64(p->name[i], strlen(p->name[i]), 0);

        p->num[i] =
            integers ? integer(name, p->draw, p->exponent[i], k % 2 && !p->exponent[i])
                     : real(name, p->draw);
    }
    p->pi = integer(1, p->draw, false, false);
    p->e = integer(2, p->draw, false, false);
}

bool point_value(const struct point *p, const char *name, mpq_ptr out)
{
    int i = find(p, name);

    if (i == p->n)
        return false;
    mpz_set_si(mpq_numref(out), p->num[i]);
    mpz_set_ui(mpq_denref(out), 1);
    mpq_div_2exp(out, out, (mp_bitcnt_t)p->shift);
    return true;
}

int64_t point_log(const struct point *p, mpz_srcptr prime)
{
    return integer(mpz_fdiv_ui(prime, FIELD_PRIME) + 3, p->draw, false, false);
}
