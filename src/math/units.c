/* units.c - units behind a number: "cm^2", "km/h", "square inches", "dollars". */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "math/parse.h"

enum {
    WEAK = 1, /* only inside \text, as are all single letters: 2mg is algebra */
    EXACT = 2 /* the case counts */
};
enum { UNIT_NAME = 64, MAX_WORDS = 12 };

struct row {
    const char *names; /* the first is the canonical one */
    int8_t power[UNIT_BASES];
    long num, den; /* in base units */
    int flags;
};

#define LENGTH(n) [UNIT_LENGTH] = (n)
#define MASS(n) [UNIT_MASS] = (n)
#define TIME(n) [UNIT_TIME] = (n)
#define CURRENT(n) [UNIT_CURRENT] = (n)

static const struct row table[] = {
    {"m meter meters metre metres 米", {LENGTH(1)}, 1, 1, 0},
    {"cm centimeter centimeters centimetre centimetres 厘米 公分",
     {LENGTH(1)},
     1,
     100,
     0},
    {"mm millimeter millimeters millimetre millimetres 毫米", {LENGTH(1)}, 1, 1000, 0},
    {"dm decimeter decimeters 分米", {LENGTH(1)}, 1, 10, 0},
    {"km kilometer kilometers kilometre kilometres 千米 公里", {LENGTH(1)}, 1000, 1, 0},
    {"um micron microns micrometer micrometers", {LENGTH(1)}, 1, 1000000, WEAK},
    {"nm nanometer nanometers", {LENGTH(1)}, 1, 1000000000, WEAK},
    {"in inch inches", {LENGTH(1)}, 254, 10000, 0},
    {"ft foot feet", {LENGTH(1)}, 3048, 10000, 0},
    {"yd yard yards", {LENGTH(1)}, 9144, 10000, 0},
    {"mi mile miles", {LENGTH(1)}, 1609344, 1000, 0},
    {"ly lightyear lightyears", {LENGTH(1)}, 9460730472580800, 1, WEAK},
    {"pc parsec parsecs", {LENGTH(1)}, 30856775814913673, 1, WEAK},
    {"AU", {LENGTH(1)}, 149597870700, 1, WEAK | EXACT},
    {"acre acres", {LENGTH(2)}, 40468564224, 10000000, 0},
    {"ha hectare hectares 公顷", {LENGTH(2)}, 10000, 1, WEAK},
    {"L liter liters litre litres l 升", {LENGTH(3)}, 1, 1000, 0},
    {"mL ml milliliter milliliters millilitre millilitres cc 毫升",
     {LENGTH(3)},
     1,
     1000000,
     0},
    {"gal gallon gallons", {LENGTH(3)}, 3785411784, 1000000000000, 0},
    {"g gram grams gm gms 克", {MASS(1)}, 1, 1000, 0},
    {"kg kilogram kilograms kgs kilo kilos 千克 公斤", {MASS(1)}, 1, 1, 0},
    {"mg milligram milligrams", {MASS(1)}, 1, 1000000, WEAK},
    {"lb lbs pound pounds", {MASS(1)}, 45359237, 100000000, 0},
    {"oz ounce ounces", {MASS(1)}, 45359237, 1600000000, 0},
    {"ton tons tonne tonnes 吨", {MASS(1)}, 1000, 1, 0},
    {"s sec secs second seconds 秒 秒钟", {TIME(1)}, 1, 1, 0},
    {"ms millisecond milliseconds", {TIME(1)}, 1, 1000, WEAK},
    {"min mins minute minutes 分钟", {TIME(1)}, 60, 1, 0},
    {"h hr hrs hour hours 小时", {TIME(1)}, 3600, 1, 0},
    {"day days 天 日", {TIME(1)}, 86400, 1, 0},
    {"week weeks wk wks 周 星期", {TIME(1)}, 604800, 1, 0},
    {"month months 个月 月", {TIME(1)}, 31557600, 12, 0},
    {"year years yr yrs 年", {TIME(1)}, 31557600, 1, 0},
    {"mph", {LENGTH(1), TIME(-1)}, 1609344, 3600000, 0},
    {"kph kmh kmph", {LENGTH(1), TIME(-1)}, 1000, 3600, 0},
    {"Hz hertz", {TIME(-1)}, 1, 1, 0},
    {"kHz", {TIME(-1)}, 1000, 1, 0},
    {"MHz", {TIME(-1)}, 1000000, 1, 0},
    {"rpm", {TIME(-1)}, 1, 60, 0},
    {"N newton newtons", {MASS(1), LENGTH(1), TIME(-2)}, 1, 1, EXACT},
    {"kN", {MASS(1), LENGTH(1), TIME(-2)}, 1000, 1, WEAK},
    {"J joule joules", {MASS(1), LENGTH(2), TIME(-2)}, 1, 1, EXACT},
    {"kJ", {MASS(1), LENGTH(2), TIME(-2)}, 1000, 1, WEAK},
    {"erg ergs", {MASS(1), LENGTH(2), TIME(-2)}, 1, 10000000, 0},
    {"W watt watts", {MASS(1), LENGTH(2), TIME(-3)}, 1, 1, 0},
    {"kW", {MASS(1), LENGTH(2), TIME(-3)}, 1000, 1, WEAK},
    {"Pa pascal pascals", {MASS(1), LENGTH(-1), TIME(-2)}, 1, 1, WEAK},
    {"kPa", {MASS(1), LENGTH(-1), TIME(-2)}, 1000, 1, 0},
    {"atm", {MASS(1), LENGTH(-1), TIME(-2)}, 101325, 1, WEAK},
    {"V volt volts", {MASS(1), LENGTH(2), TIME(-3), CURRENT(-1)}, 1, 1, 0},
    {"ohm ohms \\Omega", {MASS(1), LENGTH(2), TIME(-3), CURRENT(-2)}, 1, 1, 0},
    {"A amp amps ampere amperes", {CURRENT(1)}, 1, 1, EXACT},
    {"C coulomb coulombs", {CURRENT(1), TIME(1)}, 1, 1, EXACT},
    {"T tesla", {MASS(1), TIME(-2), CURRENT(-1)}, 1, 1, EXACT},
    {"K kelvin", {[UNIT_TEMPERATURE] = 1}, 1, 1, EXACT},
    {"mol moles", {[UNIT_AMOUNT] = 1}, 1, 1, 0},
    {"rad radian radians 弧度", {[UNIT_ANGLE] = 1}, 1, 1, 0},
    {"percent % percents", {[UNIT_PERCENT] = 1}, 1, 100, 0},
    {"usd dollar dollars bucks 美元", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"cent cents ¢", {[UNIT_CURRENCY] = 1}, 1, 100, 0},
    {"eur euro euros 欧元", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"gbp", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"cny yuan rmb 元 人民币", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"jpy 日元 円", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"inr rupee rupees", {[UNIT_CURRENCY] = 1}, 1, 1, 0},
    {"arcmin arcminute arcminutes", {[UNIT_ANGLE] = 1}, 1, 60, 0},
    {"平方米", {LENGTH(2)}, 1, 1, 0},
    {"平方厘米", {LENGTH(2)}, 1, 10000, 0},
    {"平方千米 平方公里", {LENGTH(2)}, 1000000, 1, 0},
    {"立方米", {LENGTH(3)}, 1, 1, 0},
    {"立方厘米", {LENGTH(3)}, 1, 1000000, 0},
};

/* Words that are part of a sentence rather than of a unit. */
static const char stop_words[] =
    "if where when for with such that is are and or the then so because since which as "
    "mod divided times plus minus equals by 当 其中 则";

static bool listed(const char *names, const char *s, size_t n, bool exact)
{
    for (const char *w = names; *w;) {
        size_t k = strcspn(w, " ");

        if (k == n && !(exact || n < 2 ? strncmp(w, s, n) : strncasecmp(w, s, n)))
            return true;
        w += k + (w[k] == ' ');
    }
    return false;
}

/* The unit s[n]; weak ones only where `text`. */
static const struct row *find(const char *s, size_t n, bool text)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        const struct row *r = &table[i];

        if ((text || !(r->flags & WEAK)) && (text || n > 1) &&
            listed(r->names, s, n, r->flags & EXACT || n < 3))
            return r;
    }
    return NULL;
}

bool unit_known(const char *s, size_t n)
{
    static const char behind[] = "^/ ,.;)";

    bool power = s[n] == '2' || s[n] == '3'; /* cm2 */

    return find(s, n, false) &&
           (!s[n] || strchr(behind, s[n]) || (power && !is_wordy(s[n + 1])));
}

bool unit_word(const char *s, size_t n)
{
    return find(s, n, true) != NULL;
}

bool token_in(const struct parser *p, const struct token *t, const char *words)
{
    return listed(words, p->s + t->at, t->len, false);
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

/* u *= row^power */
static bool multiply(struct making *k, const struct row *r, int power)
{
    mpq_t f;

    mpq_init(f);
    mpz_set_si(mpq_numref(f), r->num);
    mpz_set_si(mpq_denref(f), r->den);
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

/* A unit the table has, with its exponent; `sign` -1 in a denominator. */
static bool simple(struct making *k, int sign, bool letters)
{
    struct parser *p = k->p;
    int start = p->at, power = raised(p);
    const struct token *t = peek(p);
    bool letter = letters && t->kind == T_SYMBOL;
    const struct row *r = is_word(t) || letter
                              ? find(p->s + t->at, t->len, t->flags & F_TEXT || letter)
                              : NULL;
    char text[8];

    if (!r || (t->kind == T_FN && peek_at(p, 1)->kind == T_OPEN)) {
        p->at = start;
        return false;
    }
    p->at++;
    take(p, T_DOT);
    power *= exponent(p);
    if (token_in(p, peek(p), "squared cubed") && is_word(peek(p))) {
        power *= token_in(p, peek(p), "squared") ? 2 : 3;
        p->at++;
    }
    if (k->n_name)
        add_name(k, sign < 0 ? "/" : "*", 1);
    add_name(k, r->names, strcspn(r->names, " "));
    if (power != 1)
        add_name(k, text, (size_t)snprintf(text, sizeof text, "^%d", power));
    return multiply(k, r, sign * power);
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

/* More units: km/h, "miles per hour", \text{kg}\,\text{m}. */
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
        if (!simple(k, sign, sign < 0)) {
            p->at = start;
            return;
        }
    }
}

/* Any other words: a counted thing, "apples", "square units". */
static bool counted(struct making *k)
{
    struct parser *p = k->p;
    int power = 1, words = 0;

    while (is_word(peek(p)) && !token_in(p, peek(p), stop_words) && words < MAX_WORDS) {
        const struct token *t = peek(p);

        if (token_in(p, t, "square cubic")) {
            power = token_in(p, t, "square") ? 2 : 3;
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
    if (words)
        power *= exponent(p);
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

void skip_rate(struct parser *p)
{
    if (at_kind(p, T_WORD) &&
        token_in(p, peek(p), "per each apiece total altogether 每 共"))
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

const struct unit *parse_unit(struct parser *p)
{
    struct making k = {.p = p};
    const struct token *t = peek(p);
    int start = p->at, id = t->id;

    if (t->kind == T_CURRENCY) {
        p->at++;
        return unit_currency(p, id);
    }
    if ((!is_word(t) && !speed(p) && !ohm(p)) || token_in(p, t, stop_words) ||
        (token_is(p, t, "to") && peek_at(p, 1)->kind == T_NUMBER))
        return NULL;
    k.u = unit_new(p, &k.factor);
    if (!k.u)
        return NULL;
    if (degrees(&k) || simple(&k, 1, !is_word(t))) {
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
