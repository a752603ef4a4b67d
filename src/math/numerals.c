/* numerals.c - numbers in English words: "forty-five", "two thirds", "the 21st". */
#include <string.h>

#include "math/compare.h"

enum { MOST_WORDS = 12 };

static const char *const small[] = {
    "zero",     "one",     "two",     "three",     "four",     "five",     "six",
    "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",   "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"};
static const char *const tens[] = {"thirty",  "forty",  "fifty", "sixty",
                                   "seventy", "eighty", "ninety"};
static const char *const ordinals[] = {"first", "second", "third",    "fourth",
                                       "fifth", "sixth",  "seventh",  "eighth",
                                       "ninth", "tenth",  "eleventh", "twelfth"};
static const struct {
    const char *word;
    long value;
} scales[] = {{"hundred", 100},
              {"thousand", 1000},
              {"million", 1000000},
              {"billion", 1000000000},
              {"trillion", 1000000000000}};

static bool is(const char *word, size_t n, const char *what)
{
    return strlen(what) == n && !strncmp(word, what, n);
}

static int place(const char *const *list, size_t size, const char *word, size_t n)
{
    for (size_t i = 0; i < size; i++)
        if (is(word, n, list[i]))
            return (int)i;
    return -1;
}
#define PLACE(list, word, n) place(list, sizeof(list) / sizeof *(list), word, n)

/* third, thirds, half, quarters: the denominator; 0 if the word is none. */
static int part(const char *word, size_t n)
{
    int i;

    if (is(word, n, "half") || is(word, n, "halves"))
        return 2;
    n -= n > 1 && word[n - 1] == 's';
    if (is(word, n, "quarter"))
        return 4;
    i = PLACE(ordinals, word, n);
    return i < 2 ? 0 : i + 1;
}

/* A number that is being read: what is finished, and the group below the next scale. */
struct reading {
    long total, group;
    long last; /* the scale before: they fall, as in two million three thousand */
    bool tens, any, article;
};

/* One more word; false if no number goes on with it. */
static bool more(struct reading *r, const char *word, size_t n)
{
    int i = PLACE(small, word, n), t = PLACE(tens, word, n);

    if (i >= 0 || t >= 0) {
        long v = i >= 0 ? i : 10 * (t + 3);
        bool unit = v > 0 && v < 10;

        if (r->article || (r->any && !r->group && !r->total) ||
            (r->any && (!v || (r->group % 100 && !(r->tens && unit)))))
            return false;
        r->tens = v >= 20;
        r->group += v;
        return r->any = true;
    }
    for (size_t k = 0; k < sizeof scales / sizeof scales[0]; k++) {
        long v = scales[k].value;

        if (!is(word, n, scales[k].word))
            continue;
        if ((r->any && !r->group) || r->group >= (v == 100 ? 100 : 1000) ||
            (v > 100 && r->last && v >= r->last))
            return false;
        r->group = r->any ? r->group : 1;
        if (v == 100) {
            r->group *= 100;
        } else {
            r->total += r->group * v;
            r->group = 0;
            r->last = v;
        }
        r->tens = r->article = false;
        return r->any = true;
    }
    return false;
}

/* "a", "one" and nothing else before a scale or a part. */
static bool is_article(const char *word, size_t n)
{
    return is(word, n, "a") || is(word, n, "an");
}

static bool read_words(const char *w, long *num, long *den)
{
    struct reading r = {0};
    int words = 0;

    for (*den = 1; *w && words < MOST_WORDS; words++) {
        size_t n = strcspn(w, " -");
        bool end = !w[n];
        int p = part(w, n);

        if (!words && is_article(w, n) && !end)
            r.article = true;
        else if (end && p && (!words || r.article || (!r.total && r.group < 20)))
            *den = p;
        else if (!more(&r, w, n))
            return false;
        w += n + !end;
    }
    *num = r.any ? r.total + r.group : 1;
    if (*den > 2 && words == 1) /* "third" alone is a place in a row */
        return false;
    return !*w && words && (r.any || *den > 1);
}

const struct node *words_number(struct math *m, const char *words)
{
    long num, den;
    mpq_ptr q;

    if (!read_words(words, &num, &den) || !(q = tree_literal(m)))
        return NULL;
    mpq_set_si(q, num, (unsigned long)den);
    mpq_canonicalize(q);
    return tree_rational(m, q);
}
