/* units.c - units behind a number: "cm^2", "km/h", "square inches", "dollars". */
#include <stdio.h>
#include <string.h>

#include "math/units.h"

enum { UNIT_NAME = 64, MAX_WORDS = 12 };

/* Words that are part of a sentence rather than of a unit. */
static const char stop_words[] =
    "if where when for with such that is are and or the then so because since which as "
    "mod divided times plus minus equals by squared cubed factorial dozen out 当 其中 "
    "则";

bool unit_known(const char *s, size_t n)
{
    static const char behind[] = "^/ ,.;)";
    bool power = s[n] == '2' || s[n] == '3'; /* cm2 */

    int prefix;

    return unit_find(s, n, false, &prefix) &&
           (!s[n] || strchr(behind, s[n]) || (power && !is_wordy(s[n + 1])));
}

bool unit_word(const char *s, size_t n)
{
    int prefix;

    return unit_find(s, n, true, &prefix) != NULL;
}

bool token_in(const struct parser *p, const struct token *t, const char *words)
{
    return word_listed(words, p->s + t->at, t->len, false);
}

/* -- one unit, as it is put together ----------------------------------------------- */
struct making {
    struct parser *p;
    struct unit *u;
    mpq_ptr factor;
    char name[UNIT_NAME];
    size_t n_name;
};

static void add_name(struct making *k, const char *s, size_t n)
{
    if (k->n_name + n < sizeof k->name) {
        memcpy(k->name + k->n_name, s, n);
        k->n_name += n;
    }
}

static struct unit *unit_new(struct parser *p, mpq_ptr *factor)
{
    struct unit *u = tree_take(p->m, sizeof *u);

    *factor = u ? tree_literal(p->m) : NULL;
    if (!*factor)
        return NULL;
    mpq_set_ui(*factor, 1, 1);
    u->factor = *factor;
    return u;
}

/* u *= (10^prefix row)^power */
static bool multiply(struct making *k, const struct unit_row *r, int prefix, int power)
{
    mpz_ptr side;
    mpz_t ten;
    mpq_t f;

    mpq_init(f);
    mpz_init(ten);
    mpz_set_si(mpq_numref(f), r->num);
    mpz_set_si(mpq_denref(f), r->den);
    mpz_ui_pow_ui(ten, 10, (unsigned long)(prefix < 0 ? -prefix : prefix));
    side = prefix < 0 ? mpq_denref(f) : mpq_numref(f);
    mpz_mul(side, side, ten);
    mpz_clear(ten);
    mpq_canonicalize(f);
    if (power < 0)
        mpq_inv(f, f);
    for (int i = 0; i < (power < 0 ? -power : power); i++)
        mpq_mul(k->factor, k->factor, f);
    mpq_clear(f);
    for (int i = 0; i < UNIT_BASES; i++) {
        int sum = k->u->power[i] + r->power[i] * power;

        if (sum > 60 || sum < -60)
            return false;
        k->u->power[i] = (int8_t)sum;
    }
    return true;
}

static bool is_word(const struct token *t)
{
    return t->kind == T_WORD || (t->kind == T_SYMBOL && t->flags & F_TEXT) ||
           (t->kind == T_FN && !(t->flags & F_COMMAND));
}

/* ^2, ^{-1}, the 2 of cm2: the exponent; 1 without one. */
static int exponent(struct parser *p)
{
    const struct token *t = peek(p), *n;
    bool braced, minus, glued = t->kind == T_NUMBER && !(t->flags & F_SPACE);
    int skip = 0;

    if (t->kind != T_CARET && !glued)
        return 1;
    skip += !glued;
    braced = peek_at(p, skip)->kind == T_LBRACE;
    skip += braced;
    minus = peek_at(p, skip)->kind == T_MINUS;
    skip += minus;
    n = peek_at(p, skip);
    if (n->kind != T_NUMBER || n->len != 1 ||
        (braced && peek_at(p, skip + 1)->kind != T_RBRACE))
        return 1;
    p->at += skip + 1 + braced;
    return (minus ? -1 : 1) * (p->s[n->at] - '0');
}

/* "square", "cubic" before a unit: 2, 3; else 1. */
static int raised(struct parser *p)
{
    const struct token *t = peek(p);
    int power = token_in(p, t, "square sq") ? 2 : token_in(p, t, "cubic cu") ? 3 : 1;

    if (power == 1 || !is_word(t))
        return 1;
    p->at++;
    take(p, T_DOT);
    return power;
}

/* \mu or k before a unit in \text, without a space between them: the power of ten, and
 * its tokens; 0 if there is none. */
static int prefix_mark(const struct parser *p, int *power)
{
    const struct token *t = peek(p), *u = peek_at(p, 1);
    bool omega = token_is(p, u, "\\Omega");

    *power = 0;
    if (t->kind != T_SYMBOL || !(u->flags & F_TEXT || omega) ||
        (u->kind != T_WORD && u->kind != T_SYMBOL))
        return 0;
    if (token_is(p, t, "\\mu") &&
        (p->units || t->flags & F_TEXT || p->s[u->at - 1] != ' '))
        *power = -6;
    else if (omega && t->flags & F_TEXT)
        *power = token_is(p, t, "k") ? 3 : token_is(p, t, "M") ? 6 : 0;
    return *power && unit_prefixed(p->s + u->at, u->len) ? 1 : 0;
}

/* The unit here, 10^*power before it; its tokens, 0 if there is none. */
static int table_unit(const struct parser *p, bool letters, const struct unit_row **r,
                      int *power)
{
    int k = prefix_mark(p, power), prefix;
    const struct token *t = peek_at(p, k);
    bool letter = (letters || k) && t->kind == T_SYMBOL;

    if (!is_word(t) && !letter)
        return 0;
    if (token_is(p, t, "mm") && token_is(p, peek_at(p, k + 1), "Hg")) {
        *r = unit_find("torr", 4, true, power);
        return k + 2;
    }
    *r = unit_find(p->s + t->at, t->len, t->flags & F_TEXT || letter, &prefix);
    *power += prefix;
    if (!*r || (t->kind == T_FN && peek_at(p, k + 1)->kind == T_OPEN))
        return 0;
    return k + 1;
}

static void name_unit(struct making *k, const struct unit_row *r, int prefix, int power,
                      int sign)
{
    char text[32];

    if (k->n_name)
        add_name(k, sign < 0 ? "/" : "*", 1);
    if (prefix)
        add_name(k, text, (size_t)snprintf(text, sizeof text, "1e%d", prefix));
    add_name(k, r->names, strcspn(r->names, " "));
    if (power != 1)
        add_name(k, text, (size_t)snprintf(text, sizeof text, "^%d", power));
}

/* A unit the table has, with its exponent; `sign` -1 in a denominator. */
static bool simple(struct making *k, int sign, bool letters)
{
    const struct unit_row *r = NULL;
    struct parser *p = k->p;
    int start = p->at, power = raised(p), prefix, n;

    n = table_unit(p, letters, &r, &prefix);
    if (!n) {
        p->at = start;
        return false;
    }
    p->at += n;
    take(p, T_DOT);
    power *= exponent(p);
    if (token_in(p, peek(p), "squared cubed") && is_word(peek(p))) {
        power *= token_in(p, peek(p), "squared") ? 2 : 3;
        p->at++;
    }
    if (prefix == -3 && power < 0 && n == 1 && token_is(p, &p->tok[start], "ms")) {
        const struct unit_row *metre = unit_find("m", 1, true, &prefix);

        name_unit(k, metre, 0, 1, sign); /* ms^{-1} is m s^{-1} */
        if (!multiply(k, metre, 0, sign))
            return false;
    }
    name_unit(k, r, prefix, power, sign);
    return multiply(k, r, prefix, sign * power);
}

static bool product(struct making *k, int sign, bool letters);

/* (g K) in a denominator, {m} in a fraction. */
static bool grouped(struct making *k, int sign)
{
    struct parser *p = k->p;
    int start = p->at, open = peek(p)->kind, close = T_CLOSE;

    if (open == T_LBRACE)
        close = T_RBRACE;
    else if (open != T_OPEN || peek(p)->id != '(')
        return false;
    p->at++;
    if (product(k, sign, true) && take(p, (enum token_kind)close))
        return true;
    p->at = start;
    return false;
}

/* \frac{\text{m}}{\text{s}^2} */
static bool fraction(struct making *k)
{
    struct parser *p = k->p;
    int start = p->at;

    if (take(p, T_FRAC) && grouped(k, 1) && grouped(k, -1))
        return true;
    p->at = start;
    return false;
}

/* Units one behind the other, with a product's dot or nothing between them. */
static bool product(struct making *k, int sign, bool letters)
{
    struct parser *p = k->p;
    bool any = false;

    for (int i = 0; i < MAX_WORDS; i++) {
        int start = p->at;

        if (any)
            take(p, T_TIMES);
        if (!simple(k, sign, letters)) {
            p->at = start;
            break;
        }
        any = true;
    }
    return any;
}

/* "degrees", "degrees Fahrenheit". */
static bool degrees(struct making *k)
{
    struct parser *p = k->p;

    if (!is_word(peek(p)) || !token_in(p, peek(p), "degree degrees deg 度"))
        return false;
    p->at++;
    if (is_word(peek(p)) && token_in(p, peek(p), "fahrenheit celsius F C centigrade")) {
        bool f = (p->s[peek(p)->at] | 32) == 'f';

        p->at++;
        k->u->power[UNIT_TEMPERATURE] = 1;
        mpq_set_ui(k->factor, f ? 5 : 1, f ? 9 : 1);
        add_name(k, f ? "F" : "C", 1);
        return true;
    }
    k->u->power[UNIT_ANGLE] = 1;
    k->u->degrees = true;
    add_name(k, "degree", 6);
    return true;
}

/* More units: km/h, "miles per hour", \text{kg}\,\text{m}, J/(g K). */
static void more(struct making *k)
{
    struct parser *p = k->p;

    for (int i = 0; i < MAX_WORDS; i++) {
        int start = p->at, sign = 1;

        if (take(p, T_DIV) ||
            (is_word(peek(p)) && token_in(p, peek(p), "per") && ++p->at))
            sign = -1;
        else
            take(p, T_TIMES);
        if (!simple(k, sign, sign < 0) && (sign > 0 || !grouped(k, sign))) {
            p->at = start;
            return;
        }
    }
}

/* "of six", "out of 6", "per 100": what is in front is a part of it. */
static bool part_of(const struct parser *p)
{
    const struct token *t = peek(p);

    if (t->kind != T_WORD || !token_in(p, t, "of out in per to"))
        return false;
    t += token_is(p, t + 1, "of") ? 2 : 1;
    return t->kind == T_NUMBER ||
           token_in(p, t,
                    "one two three four five six seven eight nine ten twelve "
                    "twenty hundred");
}

/* Any other words: a counted thing, "apples", "square units". */
static bool counted(struct making *k)
{
    struct parser *p = k->p;
    int power = 1, words = 0;

    if (part_of(p))
        return false;
    while (is_word(peek(p)) && !token_in(p, peek(p), stop_words) && words < MAX_WORDS) {
        const struct token *t = peek(p);

        if (token_in(p, t, "square sq cubic cu")) {
            power = token_in(p, t, "square sq") ? 2 : 3;
        } else {
            if (k->n_name)
                add_name(k, " ", 1);
            add_name(k, p->s + t->at, t->len);
        }
        p->at++;
        words++;
        while (at_kind(p, T_DOT) && peek(p)->flags & F_TEXT)
            p->at++;
    }
    if (words && is_word(peek(p)) && token_in(p, peek(p), "squared cubed")) {
        power *= token_in(p, peek(p), "squared") ? 2 : 3;
        p->at++;
    } else if (words) {
        power *= exponent(p);
    }
    k->u->power[UNIT_COUNT] = (int8_t)(power > 9 || power < -9 ? 1 : power);
    return words > 0;
}

/* What stands behind a unit and says nothing: "cm long", "dollars in total". */
static void skip_words(struct parser *p)
{
    for (int i = 0;
         i < MAX_WORDS && is_word(peek(p)) && !token_in(p, peek(p), stop_words); i++) {
        p->at++;
        while (at_kind(p, T_DOT) && peek(p)->flags & F_TEXT)
            p->at++;
    }
}

static bool per_cent(const struct parser *p)
{
    return token_is(p, peek(p), "per") && token_is(p, peek_at(p, 1), "cent");
}

void skip_rate(struct parser *p)
{
    if (at_kind(p, T_WORD) && !per_cent(p) && !part_of(p) &&
        token_in(p, peek(p), "per each every apiece total altogether 每 共"))
        skip_words(p);
}

static const struct unit *finish(struct making *k)
{
    k->u->name = tree_name(k->p->m, k->name, k->n_name);
    return k->u->name ? k->u : NULL;
}

const struct unit *unit_currency(struct parser *p, int id)
{
    static const struct {
        char id;
        const char *name;
    } names[] = {{'$', "usd"}, {'c', "cent"}, {'L', "gbp"},
                 {'E', "eur"}, {'Y', "cny"},  {'R', "inr"}};
    struct making k = {.p = p};

    k.u = unit_new(p, &k.factor);
    if (!k.u)
        return NULL;
    k.u->power[UNIT_CURRENCY] = 1;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (names[i].id == id)
            add_name(&k, names[i].name, strlen(names[i].name));
    if (id == 'c')
        mpq_set_ui(k.factor, 1, 100);
    return finish(&k);
}

const struct unit *unit_degree(struct parser *p)
{
    struct making k = {.p = p};
    const struct token *t = peek(p);

    k.u = unit_new(p, &k.factor);
    if (!k.u)
        return NULL;
    if (t->kind == T_SYMBOL && token_in(p, t, "C F")) {
        bool f = p->s[t->at] == 'F';

        p->at++;
        k.u->power[UNIT_TEMPERATURE] = 1;
        mpq_set_ui(k.factor, f ? 5 : 1, f ? 9 : 1);
        add_name(&k, f ? "F" : "C", 1);
        return finish(&k);
    }
    k.u->power[UNIT_ANGLE] = 1;
    k.u->degrees = true;
    add_name(&k, "degree", 6);
    return finish(&k);
}

const struct unit *unit_percent(struct parser *p)
{
    struct making k = {.p = p};

    k.u = unit_new(p, &k.factor);
    if (!k.u)
        return NULL;
    k.u->power[UNIT_PERCENT] = 1;
    mpq_set_ui(k.factor, 1, 100);
    add_name(&k, "percent", 7);
    return finish(&k);
}

/* m/s, g/L outside \text: letters that are units with a slash between them. */
static bool speed(const struct parser *p)
{
    const struct token *t = peek(p), *u = peek_at(p, 2);

    return t->kind == T_SYMBOL && p->at && t[-1].kind == T_NUMBER &&
           peek_at(p, 1)->kind == T_DIV && (u->kind == T_SYMBOL || u->kind == T_WORD) &&
           token_in(p, t, "m g J N W C L") &&
           token_in(p, u, "s h L m kg mol min cm ml mL");
}

/* 12 \Omega and nothing behind it. */
static bool ohm(const struct parser *p)
{
    const struct token *t = peek(p);

    return token_is(p, t, "\\Omega") && p->at && t[-1].kind == T_NUMBER &&
           ends_item(peek_at(p, 1));
}

/* Whether \frac here has text above its line. */
static bool text_fraction(const struct parser *p)
{
    return at_kind(p, T_FRAC) && peek_at(p, 1)->kind == T_LBRACE &&
           peek_at(p, 2)->flags & F_TEXT;
}

const struct unit *parse_unit(struct parser *p)
{
    struct making k = {.p = p};
    const struct token *t = peek(p);
    int start = p->at, id = t->id, power;

    if (t->kind == T_CURRENCY) {
        p->at++;
        return unit_currency(p, id);
    }
    if (per_cent(p)) {
        p->at += 2;
        return unit_percent(p);
    }
    if ((!is_word(t) && !speed(p) && !ohm(p) && !prefix_mark(p, &power) &&
         !text_fraction(p)) ||
        token_in(p, t, stop_words) ||
        (token_is(p, t, "to") && peek_at(p, 1)->kind == T_NUMBER))
        return NULL;
    k.u = unit_new(p, &k.factor);
    if (!k.u)
        return NULL;
    if (text_fraction(p) ? fraction(&k) : degrees(&k) || simple(&k, 1, !is_word(t))) {
        more(&k);
        skip_words(p);
        return finish(&k);
    }
    /* A single letter in \text or a function's name is no counted thing. */
    if (!is_word(t) || (t->kind == T_SYMBOL && peek_at(p, 1)->kind != T_WORD) ||
        t->kind == T_FN || !counted(&k)) {
        p->at = start;
        return NULL;
    }
    return finish(&k);
}
