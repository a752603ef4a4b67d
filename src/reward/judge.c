/* judge.c - verdicts and the overlong penalty. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/reward.h"
#include "dapo/utf8.h"
#include "rules.h"

struct judge {
    enum grader grader;
    int window;
    struct math *math;                /* GRADER_MATH */
    struct bytes want, got;           /* normal forms of the others */
    struct bytes gold, joined, claim; /* boxes as lists; judge_gold's response */
};

const char *grader_text(enum grader g)
{
    static const char *const text[] = {
#define X(name, text, version) text,
        GRADER_LIST(X)
#undef X
    };

    return g < GRADER_COUNT ? text[g] : "unknown";
}

const char *reward_version(enum grader g)
{
    static const char *const version[] = {
#define X(name, text, version) version,
        GRADER_LIST(X)
#undef X
    };

    if (g == GRADER_MATH && !math_has_flint())
        return MATH_VERSION "-no-flint";
    return g < GRADER_COUNT ? version[g] : "unknown";
}

bool reward_version_in(const char *stored, enum grader g)
{
    const char *mine = reward_version(g);
    size_t n = strlen(mine);

    for (const char *at = stored; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (!strncmp(at, mine, n) && (at[n] == '/' || !at[n]))
            return true;
    }
    return false;
}

int judge_new(struct judge **out, enum grader g, int window, struct fault *f)
{
    struct judge *j = mem_new(1, sizeof *j, "a grader", f);

    *out = NULL;
    if (!j)
        return f->code;
    j->grader = g;
    j->window = window;
    if (g == GRADER_MATH && math_new(&j->math, f)) {
        judge_free(j);
        return f->code;
    }
    *out = j;
    return 0;
}

void judge_free(struct judge *j)
{
    if (!j)
        return;
    if (j->math)
        math_free(j->math);
    bytes_free(&j->want);
    bytes_free(&j->got);
    bytes_free(&j->gold);
    bytes_free(&j->joined);
    bytes_free(&j->claim);
    free(j);
}

/* -- extraction -------------------------------------------------------------------- */

static int extract(struct judge *j, const char *text, size_t from, size_t n,
                   struct verdict *out, struct fault *f)
{
    struct span where = {0};
    int rc = 0;

    j->joined.len = 0;
    if (j->grader == GRADER_MATH)
        rc = answer_math(text, from, n, &out->found, &where, &j->joined, f);
    else if (j->grader == GRADER_DAPO)
        out->found = line_find(text, from, n, &where.at, &where.n);
    else
        out->found = box_find(text, from, n, &where.at, &where.n) ||
                     line_find(text, from, n, &where.at, &where.n);
    if (rc || !out->found)
        return rc;
    out->offset = where.at;
    out->len = where.n;
    out->answer = j->joined.len ? j->joined.data : text + where.at;
    out->n_answer = j->joined.len ? j->joined.len : where.n;
    return 0;
}

/* A gold answer is often given as the response it stands in: what is found there. */
static int gold_answer(struct judge *j, const char **gold, size_t *n, struct fault *f)
{
    struct span where;
    bool found = false;
    int rc = 0;

    j->gold.len = 0;
    if (j->grader == GRADER_MATH)
        rc = answer_math(*gold, 0, *n, &found, &where, &j->gold, f);
    if (rc || !found)
        return rc;
    *gold = j->gold.len ? j->gold.data : *gold + where.at;
    *n = j->gold.len ? j->gold.len : where.n;
    return 0;
}

/* -- comparison -------------------------------------------------------------------- */

/* Nothing but white space and delimiters: nothing that a gold could be equal to. */
static bool is_blank(const char *text, size_t n)
{
    size_t at = 0, end = n;

    utf8_trim(text, &at, &end);
    while (at < end && text[at] && strchr(" \t\r\n$~{}", text[at]))
        at++;
    return at == end;
}

static void compare_math(struct judge *j, const char *gold, size_t n_gold, FILE *to,
                         struct verdict *out)
{
    static const enum verdict_kind kind[] = {
        [MATH_EQUAL] = VERDICT_EQUAL,
        [MATH_EQUAL_NUMERIC] = VERDICT_EQUAL_NUMERIC,
        [MATH_DIFFERENT] = VERDICT_DIFFERENT,
        [MATH_UNKNOWN] = VERDICT_UNKNOWN,
    };
    struct math_result r = {MATH_DIFFERENT, MATH_STEP_TEXT, 0};

    if (is_blank(gold, n_gold) || is_blank(out->answer, out->n_answer)) {
        if (to)
            fprintf(to, "an empty answer\n");
    } else if (to) {
        math_explain(j->math, gold, n_gold, out->answer, out->n_answer, to, &r);
    } else {
        math_compare(j->math, gold, n_gold, out->answer, out->n_answer, &r);
    }
    out->kind = kind[r.verdict];
    out->step = r.step;
}

static int compare_texts(struct judge *j, const char *gold, size_t n_gold, FILE *to,
                         struct verdict *out, struct fault *f)
{
    bool dapo = j->grader == GRADER_DAPO;
    int (*normal)(const char *, size_t, struct bytes *, struct fault *) =
        dapo ? normal_dapo : normal_exact;
    int rc;

    j->want.len = j->got.len = 0;
    rc = normal(gold, n_gold, &j->want, f);
    if (!rc)
        rc = normal(out->answer, out->n_answer, &j->got, f);
    if (rc)
        return rc;
    out->step = MATH_STEP_TEXT;
    out->kind = j->want.len == j->got.len &&
                        !memcmp(j->want.data, j->got.data, j->got.len) &&
                        (dapo || j->got.len > 0)
                    ? VERDICT_EQUAL
                    : VERDICT_DIFFERENT;
    if (to)
        fprintf(to, "gold, normal form:   %.*s\nanswer, normal form: %.*s\n",
                (int)j->want.len, j->want.data, (int)j->got.len, j->got.data);
    return 0;
}

/* Compare out->answer, if there is one. */
static int compare(struct judge *j, const char *gold, size_t n_gold, FILE *to,
                   struct verdict *out, struct fault *f)
{
    int rc = 0;

    out->kind = VERDICT_NO_ANSWER;
    if (!out->found)
        return 0;
    if (j->grader == GRADER_MATH) {
        rc = gold_answer(j, &gold, &n_gold, f);
        if (!rc)
            compare_math(j, gold, n_gold, to, out);
    } else {
        rc = compare_texts(j, gold, n_gold, to, out, f);
    }
    out->correct =
        !rc && (out->kind == VERDICT_EQUAL || out->kind == VERDICT_EQUAL_NUMERIC);
    return rc;
}

int judge_run(struct judge *j, const char *gold, size_t n_gold, const char *text,
              size_t n, struct verdict *out, struct fault *f)
{
    size_t from = j->window > 0 ? utf8_tail(text, n, (size_t)j->window) : 0;
    int rc;

    *out = (struct verdict){0};
    rc = extract(j, text, from, n, out, f);
    return rc ? rc : compare(j, gold, n_gold, NULL, out, f);
}

/* What is found anywhere in answer[n], else all of it. */
static int extract_or_whole(struct judge *j, const char *answer, size_t n,
                            struct verdict *out, struct fault *f)
{
    int rc;

    *out = (struct verdict){0};
    rc = extract(j, answer, 0, n, out, f);
    if (rc || out->found)
        return rc;
    out->found = true;
    out->len = out->n_answer = j->grader == GRADER_MATH ? answer_end(answer, 0, n) : n;
    out->answer = answer;
    return 0;
}

int judge_answer(struct judge *j, const char *gold, size_t n_gold, const char *answer,
                 size_t n, struct verdict *out, struct fault *f)
{
    int rc = extract_or_whole(j, answer, n, out, f);

    return rc ? rc : compare(j, gold, n_gold, NULL, out, f);
}

int judge_explain(struct judge *j, const char *gold, size_t n_gold, const char *answer,
                  size_t n, FILE *to, struct verdict *out, struct fault *f)
{
    int rc = extract_or_whole(j, answer, n, out, f);

    if (rc)
        return rc;
    fprintf(to, "grader:  %s, version %s\nanswer:  ", grader_text(j->grader),
            reward_version(j->grader));
    for (size_t i = 0; i < out->n_answer; i++) /* a terminal obeys control characters */
        fputc(iscntrl((unsigned char)out->answer[i]) ? ' ' : out->answer[i], to);
    if (out->len < n)
        fprintf(to, " (bytes %zu to %zu of %zu)", out->offset, out->offset + out->len,
                n);
    fputc('\n', to);
    rc = compare(j, gold, n_gold, to, out, f);
    if (!rc)
        fprintf(to, "verdict: %s, by step %s\n", verdict_text(out->kind),
                math_step_text(out->step));
    return rc;
}

int judge_gold(struct judge *j, const char *gold, size_t n_gold, bool *good,
               struct fault *f)
{
    bool line = j->grader == GRADER_DAPO;
    const char *before = line ? "Answer: " : "\\boxed{", *after = line ? "" : "}";
    struct verdict v;
    int rc;

    *good = false;
    j->claim.len = 0;
    rc = bytes_add(&j->claim, before, strlen(before), f);
    if (!rc)
        rc = bytes_add(&j->claim, gold, n_gold, f);
    if (!rc)
        rc = bytes_add(&j->claim, after, strlen(after), f);
    if (!rc)
        rc = judge_run(j, gold, n_gold, j->claim.data, j->claim.len, &v, f);
    *good = !rc && v.correct;
    return rc;
}

double reward_overlong(int64_t len, int64_t limit, int64_t cache, double factor)
{
    int64_t over = len - (limit - cache);

    if (over <= 0)
        return 0.0;
    if (over >= cache)
        return -factor;
    return -(double)over / (double)cache * factor;
}

double reward_overlong_min(double raw, int64_t len, int64_t limit, int64_t cache,
                           double factor)
{
    double penalty = reward_overlong(len, limit, cache, factor);

    return len > limit - cache && penalty < raw ? penalty : raw;
}
