/* wording.c - answers in words: "even", "Thursday", (B), "no solution". */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "math/compare.h"

enum { MAX_WORDS = 256 /* bytes that are compared in another form than as written */ };

/* -- words that mean an object ----------------------------------------------------- */
/* Whether the words hold one of each list of `must`, and else only some of `may`. */
static bool made_of(const char *words, const char *const *must, int n_must,
                    const char *may)
{
    unsigned had = 0;

    for (const char *w = words; *w;) {
        size_t n = strcspn(w, " ");
        bool known = word_listed(may, w, n, true);

        for (int i = 0; i < n_must; i++)
            if (word_listed(must[i], w, n, true)) {
                had |= 1u << i;
                known = true;
            }
        if (!known)
            return false;
        w += n + (w[n] == ' ');
    }
    return had == (1u << n_must) - 1;
}

static bool is_no_solution(const char *w)
{
    static const char *const must[] = {"no", "solution solutions root roots"};

    return made_of(w, must, 2,
                   "real the there is are exist exists equation system has have it") ||
           word_listed("none empty 无解 没有解 无实数解 无实根 无实数根 空集", w,
                       strlen(w), true) ||
           !strcmp(w, "empty set") || !strcmp(w, "the empty set") ||
           !strcmp(w, "null set");
}

static bool is_all_reals(const char *w)
{
    static const char *const must[] = {"real reals",
                                       "all any every real reals numbers number"};

    return made_of(w, must, 2, "the set of values value x is are") && strcmp(w, "real");
}

static bool is_infinitely_many(const char *w)
{
    static const char *const must[] = {"infinitely infinite"};

    return made_of(w, must, 1,
                   "many a an number of solution solutions there are has the equation "
                   "system") ||
           word_listed("无穷多 无穷多个 无数 无数个 无数多个 无穷多解 无数解", w,
                       strlen(w), true);
}

static bool is_nowhere(const char *w)
{
    return !strcmp(w, "does not exist") || !strcmp(w, "the limit does not exist") ||
           !strcmp(w, "limit does not exist");
}

/* Chinese, and longer ways of saying it, as the plain word; else as it is. */
static const char *plain_words(const char *w)
{
    return is_infinitely_many(w) ? "infinitely many"
           : word_listed("dne 不存在", w, strlen(w), true) || is_nowhere(w) ? "dne"
           : !strcmp(w, "是")                                               ? "yes"
           : !strcmp(w, "否") || !strcmp(w, "不是")                         ? "no"
                                                                            : w;
}

/* "eighteen dollars": read as 18 dollars; NULL if it isn't that. */
static const struct node *counted_words(struct math *m, const char *w)
{
    char text[MAX_WORDS];

    for (const char *s = w; (s = strchr(s, ' ')) != NULL; s++) {
        const char *first = tree_name(m, w, (size_t)(s - w));
        const struct node *n = first ? words_number(m, first) : NULL;
        bool whole = n && !mpz_cmp_ui(mpq_denref(n->u.number.q), 1);
        int k;

        if (!whole || words_number(m, s + 1))
            continue;
        k = gmp_snprintf(text, sizeof text, "%Zd\\text{%s}", mpq_numref(n->u.number.q),
                         s);
        n = k < (int)sizeof text ? math_parse(m, text) : NULL;
        m->over = false;
        return n && n->kind == NODE_QUANTITY ? n : NULL;
    }
    return NULL;
}

const struct node *words_meaning(struct math *m, const struct node *a)
{
    const char *w = a->u.name;
    const struct node *number = words_number(m, w);

    number = number ? number : counted_words(m, w);
    if (number)
        return number;
    if (is_no_solution(w))
        return named_set(m, "empty");
    if (is_all_reals(w))
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
    return clean(plain_words(a), x) && clean(plain_words(b), y) && x[0] &&
           !strcmp(x, y);
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

/* "or (C)", "and C": more than one choice. */
static bool is_link(const char *s)
{
    static const char *const links[] = {"or", "and", "或", "和", "与", "、"};

    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        size_t n = strlen(links[i]);

        if (!strncmp(s, links[i], n) && !isalpha((unsigned char)s[n]))
            return true;
    }
    return false;
}

/* What may stand behind a letter and its mark as the text of the choice, and isn't
 * algebra with that letter. */
static bool goes_on(const char *s, bool closed)
{
    unsigned char c = (unsigned char)*s;

    if (c >= 0x80)
        return !is_link(s);
    if (!closed || is_link(s))
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
