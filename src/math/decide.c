/* decide.c - balls and the separation bound as steps of the ladder. */
#include "math/ball.h"

static struct math_result answer(enum math_verdict v, enum math_step step)
{
    return (struct math_result){v, step, 0};
}

#ifdef HAVE_FLINT

enum {
    POINTS = 8,
    PROOF_POINTS = 3,
    LEAST_BITS = 128 /* of agreement, absolute and relative */
};

/* What two trees at one point have shown. */
enum relation {
    DISJOINT, /* they differ */
    OVERLAP,  /* they may be equal */
    NOWHERE,  /* one has no value there, or none within the precision */
    COMPLEX,  /* real symbols, but a root, logarithm ... wasn't real */
    HOPELESS  /* a node that balls don't know, or over a bound */
};

struct pair {
    struct scalar *s;
    const struct node *a, *b;
    bool symbols;
    bool real; /* count only points where everything is real */
    bool capped;
    acb_t x, y;
};

static void pair_open(struct pair *p, struct scalar *s, const struct node *a,
                      const struct node *b)
{
    *p = (struct pair){.s = s, .a = a, .b = b};
    acb_init(p->x);
    acb_init(p->y);
}

static void pair_close(struct pair *p)
{
    acb_clear(p->x);
    acb_clear(p->y);
}

/* Both trees at the current point. */
static enum relation at_point(struct pair *p, slong prec)
{
    struct ball w = {.s = p->s, .at = &p->s->point, .prec = prec};
    enum value v = ball_value(&w, p->a, p->x), u;

    u = v == VALUE_OK ? ball_value(&w, p->b, p->y) : VALUE_PASS;
    p->capped = w.capped;
    if (v == VALUE_UNDEFINED || u == VALUE_UNDEFINED)
        return NOWHERE;
    if (v == VALUE_PASS || u == VALUE_PASS)
        return HOPELESS;
    if (!acb_is_finite(p->x) || !acb_is_finite(p->y))
        return NOWHERE;
    if (p->real && (w.left_reals || !ball_real(p->x) || !ball_real(p->y)))
        return COMPLEX;
    return acb_overlaps(p->x, p->y) ? OVERLAP : DISJOINT;
}

/* With more precision while there is no value. */
static enum relation patiently(struct pair *p)
{
    enum relation r = NOWHERE;

    for (slong prec = 128; r == NOWHERE && prec <= 2048; prec *= 4)
        r = at_point(p, prec);
    return r;
}

/* -- refutation ----------------------------------------------------------------- */
/* DISJOINT, HOPELESS, NOWHERE; OVERLAP with a set of the points that showed it. */
static enum relation refute(struct pair *p, unsigned *good)
{
    int n = p->symbols ? POINTS : 1;

    *good = 0;
    for (int k = 0; k < n; k++) {
        enum relation r;

        point_draw(&p->s->point, k, false);
        r = patiently(p);
        if (r == DISJOINT || r == HOPELESS)
            return r;
        if (r == OVERLAP)
            *good |= 1u << k;
    }
    return *good ? OVERLAP : NOWHERE;
}

/* -- proof ---------------------------------------------------------------------- */
/* OVERLAP: |a - b| < 2^-bits, so they are equal at this point of integers. */
static enum relation within(struct pair *p, double bits)
{
    slong need = (slong)bits;

    for (slong prec = need + 64; prec <= MAX_PROOF + 64; prec = prec * 2 + 64) {
        enum relation r = at_point(p, prec);

        if (r != OVERLAP)
            return r;
        acb_sub(p->x, p->x, p->y, prec);
        if (ball_below(p->x, -need))
            return OVERLAP;
    }
    return HOPELESS;
}

/* OVERLAP: equal; DISJOINT: different, of constants without pi, e and logarithms. */
static enum relation prove(struct pair *p)
{
    int proved = 0;

    for (int k = 0; k < 3 * PROOF_POINTS; k++) {
        struct bound bound;
        enum relation r;

        point_draw(&p->s->point, k, true);
        if (!bound_find(p->s, &p->s->point, p->a, p->b, &bound))
            return HOPELESS;
        r = within(p, bound.bits);
        if (r == DISJOINT && !bound.replaced)
            return r;
        if (r == DISJOINT || r == HOPELESS)
            return HOPELESS;
        proved += r == OVERLAP;
        if (proved == (bound.replaced ? PROOF_POINTS : 1))
            return OVERLAP;
    }
    return HOPELESS;
}

/* -- numeric acceptance --------------------------------------------------------- */
/* |d| < 2^-bits |x|; true of an x that may be 0. */
static bool below_part(const acb_t d, const acb_t x, slong bits)
{
    mag_t size, part;
    bool ok;

    mag_init(size);
    mag_init(part);
    acb_get_mag(size, d);
    acb_get_mag_lower(part, x);
    mag_mul_2exp_si(part, part, -bits);
    ok = acb_contains_zero(x) || mag_cmp(size, part) < 0;
    mag_clear(size);
    mag_clear(part);
    return ok;
}

/* Whether the difference x - y, a ball around 0, is below 2^-bits of the larger of 1
 * and |x|; and so small both absolutely (of numbers beyond the precision) and against a
 * value other than 0 (of numbers far below it) that they aren't just neighbours. */
static bool agree(struct pair *p, slong bits)
{
    acb_t d;
    bool ok;

    acb_init(d);
    acb_sub(d, p->x, p->y, NUMERIC_BITS);
    ok =
        ball_below(d, -bits) || (!acb_contains_zero(p->x) && below_part(d, p->x, bits));
    ok = ok && ball_below(d, -LEAST_BITS) && below_part(d, p->x, LEAST_BITS) &&
         below_part(d, p->y, LEAST_BITS);
    acb_clear(d);
    return ok;
}

static enum relation accept(struct pair *p, unsigned good)
{
    int shown = 0;

    for (int k = 0; k < POINTS && shown < 2; k++) {
        enum relation r;

        if (!(good & 1u << k))
            continue;
        point_draw(&p->s->point, k, false);
        r = at_point(p, NUMERIC_BITS);
        if (r != OVERLAP)
            return r;
        if (!agree(p, p->capped ? GAMMA_DIGITS_BITS : NUMERIC_DIGITS_BITS))
            return HOPELESS;
        shown++;
    }
    return shown ? OVERLAP : HOPELESS;
}

static struct math_result ladder(struct pair *p)
{
    unsigned good;
    enum relation r = refute(p, &good);

    if (r == NOWHERE && p->real) { /* nowhere real: then as complex functions */
        p->real = false;
        r = refute(p, &good);
    }
    if (r == DISJOINT)
        return answer(MATH_DIFFERENT, MATH_STEP_BALL);
    if (r != OVERLAP)
        return answer(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    r = prove(p);
    if (r == OVERLAP)
        return answer(MATH_EQUAL, MATH_STEP_BOUND);
    if (r != DISJOINT)
        r = accept(p, good);
    if (r == OVERLAP)
        return answer(MATH_EQUAL_NUMERIC, MATH_STEP_NUMERIC);
    if (r == DISJOINT)
        return answer(MATH_DIFFERENT, MATH_STEP_BALL);
    return answer(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
}

/* The symbols of both at the point; false: too many. */
static bool pair_symbols(struct pair *p)
{
    struct traits t = {0};

    p->s->point.n = 0;
    if (!point_symbols(&p->s->point, p->a) || !point_symbols(&p->s->point, p->b))
        return false;
    traits_add(&t, p->a);
    traits_add(&t, p->b);
    p->symbols = t.symbols;
    p->real = t.symbols && !t.i;
    return true;
}

struct math_result ball_compare(struct scalar *s, const struct node *a,
                                const struct node *b)
{
    struct math_result r = answer(MATH_UNKNOWN, MATH_STEP_LIMIT);
    struct pair p;

    pair_open(&p, s, a, b);
    if (pair_symbols(&p))
        r = ladder(&p);
    pair_close(&p);
    return r;
}

/* -- decimals ------------------------------------------------------------------- */
/* out = half a unit of the sixth decimal; below 1/16 as much smaller as d is. */
static void tolerance(arb_t out, const arb_t d, slong prec)
{
    arb_t least;

    arb_init(least);
    arb_abs(out, d);
    arb_mul_2exp_si(out, out, 4);
    arb_one(least);
    arb_min(out, out, least, prec);
    arb_div_ui(out, out, 2000000, prec);
    arb_clear(least);
}

enum math_verdict ball_decimal(struct scalar *s, const struct node *a, mpq_srcptr d)
{
    enum math_verdict v = MATH_UNKNOWN;
    struct ball w = {.s = s, .at = &s->point};
    acb_t x, decimal;
    arb_t bound, distance;

    acb_init(x);
    acb_init(decimal);
    arb_init(bound);
    arb_init(distance);
    s->point.n = 0;
    s->point.integers = false;
    for (w.prec = 128; v == MATH_UNKNOWN && w.prec <= 2048; w.prec *= 4) {
        if (ball_value(&w, a, x) != VALUE_OK)
            break;
        ball_set(&w, decimal, d);
        acb_sub(x, x, decimal, w.prec);
        acb_abs(distance, x, w.prec);
        tolerance(bound, acb_realref(decimal), w.prec);
        if (arb_is_finite(distance) && arb_le(distance, bound))
            v = MATH_EQUAL;
        else if (arb_is_finite(distance) && arb_gt(distance, bound))
            v = MATH_DIFFERENT;
    }
    acb_clear(x);
    acb_clear(decimal);
    arb_clear(bound);
    arb_clear(distance);
    return v;
}

/* -- order and proportion ------------------------------------------------------- */
bool ball_sign(struct scalar *s, const struct node *a, const struct node *b, int *sign)
{
    struct pair p;
    bool known = false;

    pair_open(&p, s, a, b);
    s->point.integers = false; /* where the last pair's proof left it, pi is one */
    if (pair_symbols(&p) && !p.symbols)
        for (slong prec = 128; !known && prec <= 2048; prec *= 4) {
            enum relation r = at_point(&p, prec);

            if (r == HOPELESS || (r == OVERLAP && prec > 2048 / 4))
                break;
            known = r == DISJOINT && ball_real(p.x) && ball_real(p.y);
        }
    if (known)
        *sign = arb_gt(acb_realref(p.x), acb_realref(p.y)) ? 1 : -1;
    pair_close(&p);
    return known;
}

static int real_sign(const acb_t x)
{
    if (!ball_real(x))
        return 0;
    return arb_is_positive(acb_realref(x))   ? 1
           : arb_is_negative(acb_realref(x)) ? -1
                                             : 0;
}

void ball_ratio_sign(struct scalar *s, const struct node *a, const struct node *b,
                     int *sign)
{
    struct pair p;
    int n = 0;

    *sign = 0;
    pair_open(&p, s, a, b);
    if (pair_symbols(&p))
        n = p.symbols ? POINTS : 1;
    for (int k = 0; !*sign && k < n; k++) {
        enum relation r;

        point_draw(&s->point, k, false);
        r = patiently(&p);
        if (r == OVERLAP || r == DISJOINT)
            *sign = real_sign(p.x) * real_sign(p.y);
    }
    pair_close(&p);
}

/* Whether a(x) b(x0) = a(x0) b(x) at points x after the first one, x0, where a and b
 * aren't both 0.  With `bits`: as accurately as agree asks for. */
static enum relation cross(struct pair *p, slong prec, slong bits)
{
    enum relation r = NOWHERE;
    acb_t a0, b0;
    int shown = -1; /* points after x0 */

    acb_init(a0);
    acb_init(b0);
    for (int k = 0; k < POINTS && r != HOPELESS && r != DISJOINT; k++) {
        point_draw(&p->s->point, k, false);
        r = at_point(p, prec);
        if (r != OVERLAP && r != DISJOINT)
            continue;
        r = OVERLAP;
        if (shown < 0 && acb_contains_zero(p->x) && acb_contains_zero(p->y))
            continue;
        if (shown++ < 0) {
            acb_set(a0, p->x);
            acb_set(b0, p->y);
            continue;
        }
        acb_mul(p->x, p->x, b0, prec);
        acb_mul(p->y, p->y, a0, prec);
        if (!acb_overlaps(p->x, p->y))
            r = DISJOINT;
        else if (bits && !agree(p, bits))
            r = HOPELESS;
    }
    acb_clear(a0);
    acb_clear(b0);
    if (r == DISJOINT || r == HOPELESS)
        return r;
    return shown > 0 ? OVERLAP : NOWHERE;
}

struct math_result ball_proportional(struct scalar *s, const struct node *a,
                                     const struct node *b, int *sign)
{
    struct math_result out = answer(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
    struct pair p;

    pair_open(&p, s, a, b);
    if (pair_symbols(&p) && p.symbols) {
        enum relation r = cross(&p, 128, 0);

        if (r == OVERLAP)
            r = cross(&p, NUMERIC_BITS, NUMERIC_DIGITS_BITS);
        if (r == DISJOINT)
            out = answer(MATH_DIFFERENT, MATH_STEP_BALL);
        else if (r == OVERLAP)
            out = answer(MATH_EQUAL_NUMERIC, MATH_STEP_NUMERIC);
    }
    pair_close(&p);
    if (out.verdict == MATH_EQUAL_NUMERIC)
        ball_ratio_sign(s, a, b, sign);
    return out;
}

#else

struct math_result ball_compare(struct scalar *s, const struct node *a,
                                const struct node *b)
{
    (void)s, (void)a, (void)b;
    return answer(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
}

enum math_verdict ball_decimal(struct scalar *s, const struct node *a, mpq_srcptr d)
{
    (void)s, (void)a, (void)d;
    return MATH_UNKNOWN;
}

bool ball_sign(struct scalar *s, const struct node *a, const struct node *b, int *sign)
{
    (void)s, (void)a, (void)b, (void)sign;
    return false;
}

void ball_ratio_sign(struct scalar *s, const struct node *a, const struct node *b,
                     int *sign)
{
    (void)s, (void)a, (void)b;
    *sign = 0;
}

struct math_result ball_proportional(struct scalar *s, const struct node *a,
                                     const struct node *b, int *sign)
{
    (void)s, (void)a, (void)b, (void)sign;
    return answer(MATH_UNKNOWN, MATH_STEP_UNDECIDED);
}

#endif
