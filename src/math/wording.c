/* wording.c - answers in words: "even", "Thursday", (B), "no solution". */
#include <ctype.h>
#include <string.h>
#include <strings.h>

#include "math/compare.h"

enum { MAX_WORDS = 256 /* bytes that are compared in another form than as written */ };

/* -- words that mean an object ----------------------------------------------------- */
static const char *const no_solution[] = {
    "no solution",
    "no solutions",
    "no real solution",
    "no real solutions",
    "none",
    "empty set",
    "the empty set",
    "empty",
    "null set",
    "no real root",
    "no real roots",
    "there is no solution",
    "there are no solutions",
};
static const char *const all_reals[] = {
    "all real numbers",
    "all reals",
    "all real",
    "real numbers",
    "the real numbers",
    "the reals",
    "any real number",
    "every real number",
    "all real values",
    "any real",
    "the set of real numbers",
    "the set of all real numbers",
};
static const char *const number_words[] = {
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
};

static int find(const char *const *list, size_t n, const char *word)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], word))
            return (int)i;
    return -1;
}
#define FIND(list, word) find(list, sizeof(list) / sizeof *(list), word)

static const struct node *named_set(struct math *m, const char *name)
{
    struct node *a = tree_node(m, NODE_NAMED_SET, 0);

    if (a)
        a->u.name = name;
    return a;
}

/* "forty two"; -1 if it is no number. */
static int number_of(const char *w)
{
    static const char *const tens[] = {"twenty", "thirty",  "forty",  "fifty",
                                       "sixty",  "seventy", "eighty", "ninety"};
    int number = FIND(number_words, w);

    for (int i = 0; number < 0 && i < 8; i++) {
        size_t n = strlen(tens[i]);

        if (strncmp(w, tens[i], n))
            continue;
        if (!w[n])
            return 10 * (i + 2);
        number = w[n] == ' ' || w[n] == '-' ? FIND(number_words, w + n + 1) : -1;
        return number > 0 && number < 10 ? 10 * (i + 2) + number : -1;
    }
    return !strcmp(w, "one hundred") || !strcmp(w, "a hundred") ? 100 : number;
}

const struct node *words_meaning(struct math *m, const struct node *a)
{
    const char *w = a->u.name;
    int number = number_of(w);

    if (number >= 0)
        return tree_integer(m, number);
    if (FIND(no_solution, w) >= 0)
        return named_set(m, "empty");
    if (FIND(all_reals, w) >= 0)
        return named_set(m, "R");
    if (!strcmp(w, "infinity"))
        return tree_node(m, NODE_INFINITY, 0);
    return a;
}

/* -- words against words ----------------------------------------------------------- */
static const char *skip_article(const char *w)
{
    static const char *const articles[] = {"the ", "an ", "a "};

    for (size_t i = 0; i < sizeof articles / sizeof *articles; i++) {
        size_t n = strlen(articles[i]);

        if (!strncmp(w, articles[i], n) && w[n])
            return w + n;
    }
    return w;
}

/* The words without article, punctuation and doubled spaces; a hyphen is a space.
 * False: too long. */
static bool clean(const char *w, char *out)
{
    size_t n = 0;

    w = skip_article(w);
    for (; *w; w++) {
        unsigned char c = (unsigned char)*w;

        if (c == '-')
            c = ' ';
        if ((c < 0x80 && !isalnum(c) && c != ' ') ||
            (c == ' ' && (!n || out[n - 1] == ' ')))
            continue;
        if (n + 1 >= MAX_WORDS)
            return false;
        out[n++] = (char)c;
    }
    while (n && out[n - 1] == ' ')
        n--;
    out[n] = 0;
    return true;
}

static bool same_words(const char *a, const char *b)
{
    char x[MAX_WORDS], y[MAX_WORDS];

    if (!strcmp(a, b))
        return true;
    return clean(a, x) && clean(b, y) && x[0] && !strcmp(x, y);
}

/* -- words against letters that were read as symbols ------------------------------- */
/* The letters of a product of symbols, "odd" of o*d*d; false if it isn't one. */
static bool letters(const struct node *a, char *out, size_t *n)
{
    const char *name = a->kind == NODE_SYMBOL ? a->u.name
                       : a->kind == NODE_E    ? "e"
                       : a->kind == NODE_I    ? "i"
                                              : NULL;

    if (a->kind == NODE_PRODUCT) {
        for (int i = 0; i < a->n; i++)
            if (!letters(a->kid[i], out, n))
                return false;
        return true;
    }
    for (; name && *name; name++) {
        if (!isalpha((unsigned char)*name) || *n + 1 >= MAX_WORDS)
            return false;
        out[(*n)++] = *name;
        out[*n] = 0;
    }
    return name != NULL;
}

/* One letter keeps its case: the choice A isn't the length a. */
static bool same_letters(const char *words, const struct node *a)
{
    char x[MAX_WORDS], y[MAX_WORDS];
    size_t n = 0, k = 0;

    if (!clean(words, x) || !letters(a, y, &n))
        return false;
    for (const char *p = x; *p; p++)
        if (*p != ' ')
            x[k++] = *p;
    x[k] = 0;
    return k == 1 || n == 1 ? !strcmp(x, y) : !strcasecmp(x, y);
}

bool stage_words(struct math *m, const struct node *gold, const struct node *pred,
                 struct math_result *r)
{
    bool g = gold->kind == NODE_WORDS, p = pred->kind == NODE_WORDS;
    const struct node *other = g ? pred : gold;
    bool same;

    (void)m;
    if ((!g && !p) || (!(g && p) && other->kind >= NODE_LIST))
        return false;
    same = g && p ? same_words(gold->u.name, pred->u.name)
                  : same_letters(g ? gold->u.name : pred->u.name, other);
    *r = found(same ? MATH_EQUAL : MATH_DIFFERENT, MATH_STEP_WORDS);
    return true;
}

/* -- multiple choice --------------------------------------------------------------- */
/* Past what only styles a letter. */
static const char *skip_style(const char *s)
{
    static const char *const styles[] = {" ",        "{",        "}",        "\\text",
                                         "\\textbf", "\\mathrm", "\\textrm", "\\mathbf",
                                         "\\mbox",   "\\textit", "\\mathit", "**"};

    for (size_t i = 0; i < sizeof styles / sizeof *styles; i++) {
        size_t n = strlen(styles[i]);

        if (!strncmp(s, styles[i], n) && !isalpha((unsigned char)s[n] * (n > 2))) {
            s += n;
            i = (size_t)-1;
        }
    }
    return s;
}

/* What may stand behind a letter and its mark as the text of the choice, and isn't
 * algebra with that letter. */
static bool goes_on(const char *s, bool closed)
{
    unsigned char c = (unsigned char)*s;

    if (c >= 0x80)
        return true;
    if (!closed)
        return false;
    return isdigit(c) || c == '$' || (isalpha(c) && isalpha((unsigned char)s[1])) ||
           !strncmp(s, "\\frac", 5) || !strncmp(s, "\\sqrt", 5);
}

char words_choice(const char *normal, bool *only)
{
    const char *s = skip_style(normal);
    bool open = *s == '(', closed;
    char letter;

    s = skip_style(s + open);
    letter = *s;
    if (letter < 'A' || letter > 'J')
        return 0;
    s = skip_style(s + 1);
    closed = *s == ')' || (!open && *s == '.');
    if (open && !closed)
        return 0;
    s = skip_style(s + closed);
    *only = !*s || (*s == '.' && !s[1]);
    return *only || goes_on(s, closed) ? letter : 0;
}
