/* test_parse_bounds.c - texts that are large, deep, broken or not text; real answers.
 */
#include "grader_rows.h"
#include "tree_text.h"

/* `head` n times, `middle`, `tail` n times. */
static void check_nest(struct math *m, const char *head, const char *middle,
                       const char *tail, int n, const char *want)
{
    size_t size = strlen(head) * (size_t)n + strlen(middle) + strlen(tail) * (size_t)n;
    char *text = malloc(size + 1), *p = text, *got;

    if (!text)
        abort();
    for (int i = 0; i < n; i++)
        p = stpcpy(p, head);
    p = stpcpy(p, middle);
    for (int i = 0; i < n; i++)
        p = stpcpy(p, tail);
    got = tree_text(m, text, size);
    check_text(got, want, head, __FILE__, __LINE__);
    free(got);
    free(text);
}

static void bombs_are_over_a_bound(void)
{
    struct math *m = work_new();

    check_nest(m, "(", "1", ")", 1500, "1");
    check_nest(m, "{", "1", "}", 1500, "1");
    check_nest(m, "-(", "1", ")", 1000, "OVER");
    check_nest(m, "({", "1", "})", 1000, "OVER");
    check_nest(m, "\\sqrt{", "1", "}", 500, "OVER");
    check_nest(m, "\\frac{1}{", "1", "}", 400, "OVER");
    check_nest(m, "\\sin ", "x", "", 500, "OVER");
    check_nest(m, "2^", "2", "", 500, "OVER");
    check_nest(m, "1/", "1", "", 500, "OVER");
    check_nest(m, "|", "x", "|", 500, "OVER");
    check_nest(m, "\\forall ", "x", "", 400, "OVER");
    check_nest(m, "x\\to ", "x", "", 500, "OVER");
    check_nest(m, "\\$", "5", "", 500, "NULL");
    check_nest(m, "x", "", "", 1500, "OVER");
    check_nest(m, "", "x", "!", 1500, "OVER");
    check_nest(m, "1+", "1", "", 300, "OVER");
    check_nest(m, "1,", "1", "", 300, "OVER");
    check_nest(m, "x=", "x", "", MAX_DEPTH, "OVER");
    work_free(m);
}

static void limits_are_exact(void)
{
    struct math *m = work_new();
    char text[MAX_TEXT + 2];

    memset(text, ' ', sizeof text);
    text[0] = '7';
    free(tree_text(m, text, MAX_TEXT));
    CHECK(!m->over);
    free(tree_text(m, text, MAX_TEXT + 1));
    CHECK(m->over);

    memset(text, '9', sizeof text);
    free(tree_text(m, text, MAX_DIGITS));
    CHECK(!m->over);
    free(tree_text(m, text, MAX_DIGITS + 1));
    CHECK(m->over);

    check_nest(m, "x+", "x", "", MAX_ITEMS, "OVER");
    for (int i = 0; i < 2 * MAX_ITEMS; i++)
        text[i] = i % 2 ? '+' : 'x';
    CHECK(tree_of(m, text, 2 * MAX_ITEMS - 1)); /* 250 terms */
    CHECK_INT(tree_of(m, text, 2 * MAX_ITEMS - 1)->n, MAX_ITEMS);
    work_free(m);
}

/* More literals than there are: each side of a pair takes from the same pool. */
static void literals_run_out(void)
{
    struct math *m = work_new();

    m->n_literals = MAX_LITERALS - 1;
    CHECK(math_parse(m, "5"));
    CHECK(!math_parse(m, "5"));
    CHECK(m->over);
    work_free(m);
}

static void any_bytes_are_read(void)
{
    static const struct {
        const char *text;
        size_t n;
        const char *want;
    } rows[] = {
        {"", 0, "NULL"},
        {"5\0", 2, "5"},
        {"5\0003", 3, "NULL"},
        {"\xff", 1, "NULL"},
        {"5\xff", 2, "NULL"},
        {"\xc3", 1, "NULL"},
        {"\xf0\x9f\x98\x80", 4, "(words \"\xf0\x9f\x98\x80\")"},
        {"\\", 1, "NULL"},
        {"5\\", 2, "5"},
        {"\\frac", 5, "NULL"},
        {"^", 1, "NULL"},
        {"_", 1, "NULL"},
        {"{", 1, "NULL"},
        {"\\begin{", 7, "NULL"},
        {"\\end{", 5, "NULL"},
        {"\\text{", 6, "NULL"},
        {"\x0c"
         "rac{1}{2}",
         9, "(quotient 1 2)"},
        {"\\\x0c"
         "rac{7}{4}",
         10, "(quotient 7 4)"},
    };
    struct math *m = work_new();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char *got = tree_text(m, rows[i].text, rows[i].n);

        check_text(got, rows[i].want, rows[i].text, __FILE__, __LINE__);
        free(got);
    }
    work_free(m);
}

/* A comma between two integers: also the decimal; the digits behind it are kept. */
static void decimal_of(const char *text, const char *want)
{
    struct math *m = work_new();
    const struct node *a = tree_of(m, text, strlen(text)), *b;
    char got[64] = "no decimal";

    CHECK(a != NULL);
    b = a ? tree_decimal(m, a) : NULL;
    if (b)
        mpq_get_str(got, 10, b->u.number.q);
    check_text(got, want, text, __FILE__, __LINE__);
    work_free(m);
}

static void one_comma_may_be_decimal(void)
{
    decimal_of("1000,99", "100099/100");
    decimal_of("6,8", "34/5");
    decimal_of("1,05", "21/20");
    decimal_of("0,111", "111/1000");
    decimal_of("-2,1", "-21/10");
    decimal_of("1, 2", "no decimal");
    decimal_of("(1,2)", "no decimal");
    decimal_of("1,2,3", "no decimal");
    decimal_of("x,2", "no decimal");
    decimal_of("1.5,2", "no decimal");
    decimal_of("1 and 2", "no decimal");
}

/* How a decimal was written decides how exact it is. */
static void places_are_counted(void)
{
    struct math *m = work_new();

    CHECK_INT(tree_of(m, "1.50", 4)->u.number.places, 2);
    CHECK_INT(tree_of(m, "-0.333333", 9)->u.number.places, 6);
    CHECK_INT(tree_of(m, "1,234.5", 7)->u.number.places, 1);
    CHECK_INT(tree_of(m, "15", 2)->u.number.places, -1);
    CHECK_INT(tree_of(m, "0.\\overline{3}", 14)->u.number.places, -1);
    work_free(m);
}

static void units_have_powers_and_factors(void)
{
    struct math *m = work_new();
    const struct unit *u = tree_of(m, "5 km/h", 6)->u.unit;

    CHECK_INT(u->power[UNIT_LENGTH], 1);
    CHECK_INT(u->power[UNIT_TIME], -1);
    CHECK(!mpq_cmp_ui(u->factor, 5, 18));
    u = tree_of(m, "5\\text{ cm}^2", 13)->u.unit;
    CHECK_INT(u->power[UNIT_LENGTH], 2);
    CHECK(!mpq_cmp_ui(u->factor, 1, 10000));
    u = tree_of(m, "3 square feet", 13)->u.unit;
    CHECK_INT(u->power[UNIT_LENGTH], 2);
    u = tree_of(m, "75 cents", 8)->u.unit;
    CHECK_INT(u->power[UNIT_CURRENCY], 1);
    CHECK(!mpq_cmp_ui(u->factor, 1, 100));
    u = tree_of(m, "2 \\text{ N}", 11)->u.unit;
    CHECK_INT(u->power[UNIT_MASS], 1);
    CHECK_INT(u->power[UNIT_LENGTH], 1);
    CHECK_INT(u->power[UNIT_TIME], -2);
    u = tree_of(m, "30^\\circ", 8)->u.unit;
    CHECK(u->degrees);
    CHECK_INT(u->power[UNIT_ANGLE], 1);
    work_free(m);
}

/* Factors by definition (SI; international yard and pound; US gallon). */
static void unit_factors_are_those_of_the_standards(void)
{
    static const struct {
        const char *text, *factor;
    } rows[] = {
        {"1 cm", "1/100"},
        {"1 mm", "1/1000"},
        {"1 km", "1000"},
        {"1 inch", "127/5000"},        /* 0.0254 m */
        {"1 foot", "381/1250"},        /* 0.3048 m */
        {"1 yard", "1143/1250"},       /* 0.9144 m */
        {"1 mile", "201168/125"},      /* 1609.344 m */
        {"1 acre", "316160658/78125"}, /* 4046.8564224 m^2 */
        {"1\\text{ ha}", "10000"},
        {"1 liter", "1/1000"},
        {"1 mL", "1/1000000"},
        {"1 gallon", "473176473/125000000000"}, /* 3.785411784 L */
        {"1 gram", "1/1000"},
        {"1 kg", "1"},
        {"1 pound", "45359237/100000000"},
        {"1 ounce", "45359237/1600000000"},
        {"1 ton", "1000"},
        {"1 minute", "60"},
        {"1 hour", "3600"},
        {"1 day", "86400"},
        {"1 week", "604800"},
        {"1 mph", "1397/3125"}, /* 0.44704 m/s */
        {"1\\text{ kJ}", "1000"},
        {"1 erg", "1/10000000"},
        {"1\\text{ atm}", "101325"},
        {"1 cent", "1/100"},
        {"1 percent", "1/100"},
    };
    struct math *m = work_new();

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct node *a = tree_of(m, rows[i].text, strlen(rows[i].text));
        char got[64] = "no quantity";

        if (a && a->kind == NODE_QUANTITY)
            mpq_get_str(got, 10, a->u.unit->factor);
        check_text(got, rows[i].factor, rows[i].text, __FILE__, __LINE__);
    }
    work_free(m);
}

/* Words are text, not formulas that were not understood: no operator in any of them. */
static void check_gold(struct math *m, const char *text, size_t n, int *unread)
{
    const struct node *a = tree_of(m, text, n);

    if (!a) {
        (*unread)++;
        return;
    }
    if (has_kind(a, NODE_WORDS) && (memchr(text, '=', n) || memchr(text, '^', n)) &&
        !strstr(text, "where"))
        check_text(text, "words without operators", "gold", __FILE__, __LINE__);
}

static void real_golds_are_read(void)
{
    const char *data = check_data();
    json_t *rows, *row;
    struct math *m;
    size_t i;
    int unread = 0;

    if (!data)
        return;
    m = work_new();
    rows = grader_rows(data, "golds");
    json_array_foreach(rows, i, row)
    {
        const json_t *gold = json_object_get(row, "answer");

        if (json_is_string(gold))
            check_gold(m, json_string_value(gold), json_string_length(gold), &unread);
    }
    CHECK(json_array_size(rows) > 4000);
    CHECK(1000 * unread <= (int)json_array_size(rows));
    json_decref(rows);
    work_free(m);
}

CASES(CASE(bombs_are_over_a_bound), CASE(limits_are_exact), CASE(literals_run_out),
      CASE(any_bytes_are_read), CASE(one_comma_may_be_decimal),
      CASE(places_are_counted), CASE(units_have_powers_and_factors),
      CASE(unit_factors_are_those_of_the_standards), CASE(real_golds_are_read));
