/* test_properties.c - what must not change a verdict, and what must, over real golds.
 */
#include "grader_rows.h"
#include "pairs.h"

enum { MAX_GOLDS = 6000, MAX_LINE = 1024 };

/* The distinct golds; their number, 0 without the data. */
static int read_golds(char **gold)
{
    const char *data = check_data();
    json_t *rows, *row;
    size_t at;
    int n = 0;

    if (!data)
        return 0;
    rows = grader_rows(data, "golds");
    CHECK(json_array_size(rows) > 0);
    json_array_foreach(rows, at, row)
    {
        const char *answer = json_string_value(json_object_get(row, "answer"));
        int i = 0;

        while (answer && i < n && strcmp(gold[i], answer))
            i++;
        if (answer && i == n && n < MAX_GOLDS && strlen(answer) < MAX_LINE / 2)
            gold[n++] = strdup(answer);
    }
    json_decref(rows);
    return n;
}

static int misses, tried;

static void miss(const char *what, const char *gold, const char *pred)
{
    misses++;
    printf("  %s: %.100s ~ %.200s\n", what, gold, pred);
}

/* Every distinct gold; at least so many must be of a kind that can be tried. */
static void each_gold(void (*each)(const char *gold), int at_least)
{
    static char *gold[MAX_GOLDS];
    static int n;

    if (!n)
        n = read_golds(gold);
    misses = tried = 0;
    for (int i = 0; i < n; i++)
        each(gold[i]);
    CHECK_INT(misses, 0);
    CHECK(!n || tried >= at_least);
}

static bool is_math(const char *gold)
{
    return !strchr(gold, '$') && !strstr(gold, "text") && !strstr(gold, "mbox");
}

/* A number or an expression: nothing that separates, relates or encloses. */
static bool is_scalar(const char *gold)
{
    static const char *const marks[] = {",",    "=",     "<",    ">",  "\\cup", "pm",
                                        "\\in", "begin", "circ", "%",  "(",     "[",
                                        "_",    ":",     "frac", "\n", "\\le",  "\\ge"};

    if (!is_math(gold) || !strpbrk(gold, "0123456789"))
        return false;
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
        if (strstr(gold, marks[i]))
            return false;
    return true;
}

/* A bare list, (a, b) or the like, as its items; at most 8. */
static int split(const char *gold, char item[8][MAX_LINE], bool *tuple)
{
    size_t n = strlen(gold), k = 0;
    int depth = 0, items = 0;

    *tuple = n > 2 && gold[0] == '(' && gold[n - 1] == ')';
    for (size_t i = *tuple; i < n - *tuple; i++) {
        depth += strchr("([{", gold[i]) != NULL;
        depth -= strchr(")]}", gold[i]) != NULL;
        if (depth < 0 || items == 8)
            return 0;
        if (gold[i] == ',' && !depth) {
            item[items++][k] = 0;
            k = 0;
        } else if (items < 8) {
            item[items][k++] = gold[i];
        }
    }
    if (items == 8)
        return 0;
    item[items][k] = 0;
    return items + 1;
}

/* -- what changes nothing ---------------------------------------------------------- */
/* Spaces behind separators and round signs, outside of words and commands. */
static void spaced(const char *gold, char *out)
{
    char *p = out;

    for (; *gold; gold++) {
        if (strchr("+=<>", *gold))
            *p++ = ' ';
        *p++ = *gold;
        if (strchr("+=<>{", *gold))
            *p++ = ' ';
    }
    *p = 0;
}

static void replace(const char *s, const char *what, const char *with, char *out)
{
    size_t n = strlen(what);

    while (*s) {
        if (!strncmp(s, what, n)) {
            out = stpcpy(out, with);
            s += n;
        } else {
            *out++ = *s++;
        }
    }
    *out = 0;
}

static void same_if_dressed(const char *gold)
{
    char pred[4 * MAX_LINE];

    if (!is_math(gold))
        return;
    tried++;
    snprintf(pred, sizeof pred, "$%s$", gold);
    if (!accepts(gold, pred))
        miss("dollars", gold, pred);
    snprintf(pred, sizeof pred, " \\( %s \\) ", gold);
    if (!accepts(gold, pred))
        miss("brackets", gold, pred);
    spaced(gold, pred);
    if (!accepts(gold, pred))
        miss("spaces", gold, pred);
    replace(gold, "\\frac", "\\dfrac", pred);
    if (!accepts(gold, pred))
        miss("dfrac", gold, pred);
    if (!strstr(gold, "left") && !strstr(gold, "big")) {
        char open[4 * MAX_LINE];

        replace(gold, "(", "\\left(", open);
        replace(open, ")", "\\right)", pred);
        if (strchr(gold, '(') && !strpbrk(gold, "[]") && !accepts(gold, pred))
            miss("left", gold, pred);
    }
}

static void dressed(void)
{
    each_gold(same_if_dressed, 1000);
}

static void same_if_rewritten(const char *gold)
{
    char pred[4 * MAX_LINE];

    if (!is_scalar(gold))
        return;
    tried++;
    snprintf(pred, sizeof pred, "\\frac{2(%s)}{2}", gold);
    if (!accepts(gold, pred))
        miss("2/2", gold, pred);
    snprintf(pred, sizeof pred, "7+(%s)-7", gold);
    if (!accepts(gold, pred))
        miss("+7-7", gold, pred);
    snprintf(pred, sizeof pred, "(%s)\\cdot 1+0", gold);
    if (!accepts(gold, pred))
        miss("*1", gold, pred);
}

static void rewritten(void)
{
    each_gold(same_if_rewritten, 500);
}

static void same_if_reordered(const char *gold)
{
    static char item[8][MAX_LINE];
    char pred[4 * MAX_LINE], *end;
    bool tuple;
    int n = is_math(gold) ? split(gold, item, &tuple) : 0;

    if (n < 2 || tuple || strchr(gold, '=') || strchr(gold, '!'))
        return;
    for (int i = 1; i < n; i++)
        if (strspn(item[i], "0123456789") == 3)
            return; /* digits in groups of three may be one number */
    tried++;
    end = pred;
    for (int i = n; i-- > 0;) {
        end = stpcpy(end, item[i]);
        if (i)
            end = stpcpy(end, ", ");
    }
    if (!accepts(gold, pred))
        miss("list", gold, pred);
}

static void reordered(void)
{
    each_gold(same_if_reordered, 30);
}

/* -- what changes the value -------------------------------------------------------- */
static void differs_if_changed(const char *gold)
{
    char pred[4 * MAX_LINE];

    if (!is_scalar(gold))
        return;
    tried++;
    snprintf(pred, sizeof pred, "%s+1", gold);
    if (accepts(gold, pred))
        miss("+1", gold, pred);
    snprintf(pred, sizeof pred, "-(%s)", gold);
    if (strcmp(gold, "0") && accepts(gold, pred))
        miss("negated", gold, pred);
    snprintf(pred, sizeof pred, "x=%s", gold);
    if (!accepts(gold, pred) && !strchr(gold, 'x'))
        miss("x =", gold, pred);
    snprintf(pred, sizeof pred, "%s,7/3", gold);
    if (accepts(gold, pred))
        miss("one more", gold, pred);
}

static void changed(void)
{
    each_gold(differs_if_changed, 500);
}

static void differs_if_swapped(const char *gold)
{
    static char item[8][MAX_LINE];
    char pred[4 * MAX_LINE];
    bool tuple;
    int n = is_math(gold) ? split(gold, item, &tuple) : 0;

    if (n != 2 || !tuple || accepts(item[0], item[1]))
        return;
    tried++;
    snprintf(pred, sizeof pred, "(%s,%s)", item[1], item[0]);
    if (accepts(gold, pred))
        miss("swapped", gold, pred);
    snprintf(pred, sizeof pred, "(%s,%s+1)", item[0], item[1]);
    if (!strstr(gold, "infty") && accepts(gold, pred))
        miss("second + 1", gold, pred);
    snprintf(pred, sizeof pred, "[%s,%s]", item[0], item[1]);
    if (!strstr(gold, "infty") && accepts(gold, pred))
        miss("closed", gold, pred);
}

static void swapped(void)
{
    each_gold(differs_if_swapped, 40);
}

/* -- symmetry ---------------------------------------------------------------------- */
static void symmetric(void)
{
    static char *gold[MAX_GOLDS];
    int n = read_golds(gold);

    misses = 0;
    for (int i = 0; i < n; i++) {
        int j = (int)((unsigned)i * 7919u % (unsigned)n);

        char a = judge(gold[i], gold[j]), b = judge(gold[j], gold[i]);

        /* -8,1 is no list beside \sqrt3, and as -8.1 undecided without balls. */
        if (a != b && !(!math_has_flint() && a != 'T' && b != 'T'))
            miss("asymmetric", gold[i], gold[j]);
    }
    CHECK_INT(misses, 0);
}

CASES(CASE(dressed), CASE(rewritten), CASE(reordered), CASE(changed), CASE(swapped),
      CASE(symmetric));
