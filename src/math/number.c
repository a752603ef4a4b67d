/* number.c - literals: digits with marks of thousands, decimals, periods, exponents. */
#include <string.h>

#include "math/parse.h"

static size_t digits(const char *s)
{
    return strspn(s, "0123456789");
}

/* -- scanning ---------------------------------------------------------------------- */
/* A mark of thousands at s: its length. */
static size_t thousands_mark(const char *s)
{
    return *s == ',' || *s == ' ' || *s == '.' ? 1 : !strncmp(s, "{,}", 3) ? 3 : 0;
}

/* ,5 or ,56 and no more. */
static bool decimal_comma(const char *s)
{
    size_t n = *s == ',' ? digits(s + 1) : 0;

    return (n == 1 || n == 2) && s[n + 1] != ',';
}

/* Groups of three digits behind s[n], all with the same mark.  How far they go; n if
 * this is no number with thousands, as in the list 1,2,345 or in (1,234). */
static size_t thousands(const char *s, size_t n, bool nested)
{
    size_t end = n, mark = thousands_mark(s + n);
    char sign = s[n];
    bool zero = false;

    if (!mark || n > 3 || s[0] == '0')
        return n;
    while (s[end] == sign && thousands_mark(s + end) == mark &&
           digits(s + end + mark) == 3) {
        zero |= s[end + mark] == '0';
        end += mark + 3;
    }
    if (sign == '.' && !(end > n + 4 && !is_digit(s[end])) &&
        !(end == n + 4 && !nested && decimal_comma(s + end)))
        return n; /* 1.234.567 and 1.234,56, but not 1.234 */
    if (sign == ',' && ((nested && !zero) || (s[end] == ',' && is_digit(s[end + 1]))))
        return n;
    if (sign == ' ' && (s[end] == '/' || is_letter(s[end])))
        return n;
    return end;
}

/* \overline{3}, \dot{1}4285\dot{7}, (3): the digits that repeat. */
static size_t period(const char *s)
{
    static const char *const heads[] = {"\\overline", "\\bar", "\\dot"};
    size_t n = 0, k;

    if (*s == '(' && (k = digits(s + 1)) && s[k + 1] == ')')
        return k + 2;
    for (size_t i = 0; i < 3; i++) {
        size_t head = strlen(heads[i]);

        if (strncmp(s, heads[i], head))
            continue;
        s += head;
        n = head;
        if (*s == '{' && (k = digits(s + 1)) && s[k + 1] == '}')
            n += k + 2;
        else if (is_digit(*s))
            n += 1;
        else
            return 0;
        if (i < 2)
            return n;
        k = digits(s += n - head);
        return n +
               (strncmp(s + k, "\\dot{", 5) || !is_digit(s[k + 5]) || s[k + 6] != '}'
                    ? 0
                    : k + 7);
    }
    return 0;
}

/* e-5 behind a mantissa of n bytes: scientific, unless it reads as Euler's number. */
static size_t exponent(const char *s, size_t n, bool point)
{
    const char *e = s + n;
    bool sign;
    size_t k;

    if (*e != 'e' && *e != 'E')
        return 0;
    sign = e[1] == '-' || e[1] == '+';
    k = digits(e + 1 + sign);
    if (!k || is_letter(e[1 + sign + k]) || e[1 + sign + k] == '_')
        return 0;
    if (sign && !point && !(n == 1 && s[0] == '1') && k == 1 && e[2] < '3')
        return 0; /* 2e-1 is 2e minus 1 */
    if (sign && e[1] == '+' && !point && k == 1)
        return 0;
    return 1 + sign + k;
}

size_t number_scan(const char *s, bool nested, uint8_t *flags)
{
    size_t n = digits(s), k;
    bool point = false;

    *flags = 0;
    if (!n && !(s[0] == '.' && (is_digit(s[1]) || period(s + 1) > 3)))
        return 0;
    if (n)
        n = thousands(s, n, nested);
    if (n > 4 && s[n - 4] == '.') {
        *flags = F_COMMA;
        return !nested && decimal_comma(s + n) ? n + 1 + digits(s + n + 1) : n;
    }
    if (!strncmp(s + n, "{,}", 3) && is_digit(s[n + 3])) {
        *flags = F_COMMA;
        n += 3;
        n += digits(s + n);
        return n + period(s + n);
    }
    if (s[n] == '.' && is_digit(s[n + 1])) {
        point = true;
        n += 1 + digits(s + n + 1);
        k = s[n] == '(' ? 0 : period(s + n);
        if (k)
            return n + k;
    } else if (s[n] == '.' && (k = period(s + n + 1))) {
        return n + 1 + k;
    } else if (s[n] == '.' && s[n + 1] && strchr("/*^)+-", s[n + 1])) {
        point = true; /* -1./3, as a program prints it */
        n++;
    }
    return n + exponent(s, n, point);
}

/* -- values ------------------------------------------------------------------------ */
struct literal {
    char digit[MAX_DIGITS + 2];
    int n, places; /* digits; those behind the point, -1: no point */
    int repeat;    /* the last digits, that repeat */
    const char *exponent;
    int n_exponent;
};

static bool put_digits(struct literal *x, const char *s, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!is_digit(s[i]))
            continue;
        if (x->n == MAX_DIGITS)
            return false;
        x->digit[x->n++] = s[i];
        x->places += x->places >= 0;
    }
    return true;
}

static bool take_apart(struct literal *x, const char *s, size_t len, uint8_t flags)
{
    size_t i = 0;

    x->n = x->repeat = x->n_exponent = 0;
    x->places = -1;
    while (i < len && (is_digit(s[i]) || strchr("., {}", s[i]))) {
        bool point = s[i] == (flags & F_COMMA ? ',' : '.');

        if (!put_digits(x, s + i, 1))
            return false;
        x->places = point ? 0 : x->places;
        i++;
    }
    if (i < len && (s[i] == '\\' || s[i] == '(')) {
        int before = x->n;

        if (!put_digits(x, s + i, len - i))
            return false;
        x->repeat = x->n - before;
    } else if (i < len) { /* e */
        x->exponent = s + i + 1;
        x->n_exponent = (int)(len - i - 1);
    }
    x->digit[x->n] = 0;
    return true;
}

/* q = digits, without the exponent. */
static void value(const struct literal *x, mpq_ptr q)
{
    mpz_ptr num = mpq_numref(q), den = mpq_denref(q);

    mpz_set_str(num, x->n ? x->digit : "0", 10);
    mpz_ui_pow_ui(den, 10, (unsigned long)(x->places > 0 ? x->places : 0));
    if (x->repeat) { /* 0.1(6) = (16 - 1) / (100 - 10) */
        char head[MAX_DIGITS + 2];
        size_t n = (size_t)(x->n - x->repeat);
        mpz_t less;

        memcpy(head, x->digit, n);
        head[n] = 0;
        mpz_init_set_str(less, n ? head : "0", 10);
        mpz_sub(num, num, less);
        mpz_ui_pow_ui(less, 10, (unsigned long)(x->places - x->repeat));
        mpz_sub(den, den, less);
        mpz_clear(less);
    }
    mpq_canonicalize(q);
}

/* q * 10^e, as one number if it is of a size to write down. */
static const struct node *scaled(struct parser *p, const struct literal *x, mpq_ptr q)
{
    char text[MAX_DIGITS + 2];
    const char *s = x->exponent;
    int n = x->n_exponent, e = 0;
    bool minus = *s == '-';
    mpq_ptr big;
    mpz_t power;

    s += *s == '-' || *s == '+';
    n -= s != x->exponent;
    if (n > MAX_DIGITS) {
        p->m->over = true;
        return NULL;
    }
    for (int i = 0; i < n && e <= MAX_DIGITS; i++)
        e = 10 * e + s[i] - '0';
    if (e + x->n <= MAX_DIGITS) {
        mpz_init(power);
        mpz_ui_pow_ui(power, 10, (unsigned long)e);
        if (minus)
            mpz_mul(mpq_denref(q), mpq_denref(q), power);
        else
            mpz_mul(mpq_numref(q), mpq_numref(q), power);
        mpz_clear(power);
        mpq_canonicalize(q);
        return tree_rational(p->m, q);
    }
    memcpy(text, s, (size_t)n);
    text[n] = 0;
    big = tree_literal(p->m);
    if (!big)
        return NULL;
    mpz_set_str(mpq_numref(big), text, 10);
    mpz_set_ui(mpq_denref(big), 1);
    if (minus)
        mpz_neg(mpq_numref(big), mpq_numref(big));
    return tree_two(
        p->m, NODE_PRODUCT, tree_rational(p->m, q),
        tree_two(p->m, NODE_POWER, tree_integer(p->m, 10), tree_rational(p->m, big)));
}

/* 0.1666..., 0.1212...: the digits at the end that repeat, three of one digit or twice
 * the same digits, or the whole fraction; 0 if there are none. */
static int repeated(const struct literal *x)
{
    for (int n = 1; 2 * n <= x->places; n++) {
        const char *end = x->digit + x->n - n;
        int times = 1;

        while ((times + 1) * n <= x->places && !memcmp(end - times * n, end, (size_t)n))
            times++;
        if (times > 2 || (times == 2 && (n > 1 || x->places == 2)))
            return n;
    }
    return 0;
}

const struct node *parse_number(struct parser *p)
{
    const struct token *t = peek(p);
    struct literal x;
    mpq_ptr q = tree_literal(p->m);

    if (!q)
        return NULL;
    if (!take_apart(&x, p->s + t->at, t->len, t->flags)) {
        p->m->over = true;
        return NULL;
    }
    p->at++;
    if (at_kind(p, T_DOTS) && !x.repeat && (x.repeat = repeated(&x)) > 0)
        p->at++;
    value(&x, q);
    return x.n_exponent ? scaled(p, &x, q)
                        : tree_number(p->m, q, x.repeat ? -1 : x.places);
}

/* -- bases ------------------------------------------------------------------------- */
static int digit_value(char c)
{
    return is_digit(c) ? c - '0' : is_upper(c) ? c - 'A' + 10 : 99;
}

/* Digits with at most one point in base b: *q; false if a digit isn't one of b's. */
static bool in_base(const char *s, size_t len, int b, mpq_ptr q)
{
    bool point = false;

    mpq_set_ui(q, 0, 1);
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '.' && !point) {
            point = true;
            continue;
        }
        if (strchr(" ,{}", s[i]))
            continue;
        if (digit_value(s[i]) >= b)
            return false;
        mpz_mul_si(mpq_numref(q), mpq_numref(q), b);
        mpz_add_ui(mpq_numref(q), mpq_numref(q), (unsigned long)digit_value(s[i]));
        if (point)
            mpz_mul_si(mpq_denref(q), mpq_denref(q), b);
    }
    mpq_canonicalize(q);
    return true;
}

const struct node *parse_based(struct parser *p, const struct token *t, int b)
{
    const struct node *kid[3];
    mpq_ptr q = tree_literal(p->m);
    struct literal x;

    if (!q || t->len > MAX_DIGITS || b < 2 || b > 36 ||
        !in_base(p->s + t->at, t->len, b, q))
        return NULL;
    kid[0] = tree_rational(p->m, q);
    kid[1] = tree_integer(p->m, b);
    if (t->kind == T_NUMBER && take_apart(&x, p->s + t->at, t->len, t->flags)) {
        mpq_ptr written = tree_literal(p->m);

        if (!written)
            return NULL;
        value(&x, written);
        kid[2] = tree_number(p->m, written, x.places);
    } else {
        char digit[MAX_DIGITS + 1];

        for (size_t i = 0; i < t->len; i++)
            digit[i] = p->s[t->at + i];
        digit[t->len] = 0;
        kid[2] = named(p, NODE_WORDS, digit, NULL, 0);
    }
    return named(p, NODE_CALL, "base", kid, 3);
}
