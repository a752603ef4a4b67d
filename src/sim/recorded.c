/* recorded.c - see recorded.h. */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "sim/recorded.h"

#define MOST_FILE ((size_t)1 << 30)
#define MOST_SIZE 64

/* -- pass rates -------------------------------------------------------------------- */

void rates_free(struct rates *r)
{
    free(r->first);
    free(r->value);
    *r = (struct rates){0};
}

static int take_prompt(struct rates *r, size_t *cap, const char *name,
                       const json_t *visits, const char *path, struct fault *f)
{
    size_t n = json_array_size(visits), at = r->first[r->n];

    if (n == 0)
        return fault_set(f, FAULT_DATA,
                         "%s: prompt %.40s has no list of accuracies; want "
                         "{\"prompt\": [accuracy at each visit], ...}",
                         path, name);
    if (mem_grow((void **)&r->value, cap, at + n, sizeof *r->value, "pass rates", f))
        return f->code;
    for (size_t i = 0; i < n; i++) {
        const json_t *x = json_array_get(visits, i);
        double v = json_is_number(x) ? json_number_value(x) : -1;

        if (!(v >= 0 && v <= 1))
            return fault_set(f, FAULT_DATA,
                             "%s: prompt %.40s: visit %zu is no accuracy in [0, 1]",
                             path, name, i + 1);
        r->value[at + i] = v;
    }
    r->first[++r->n] = at + n;
    return 0;
}

static bool all_multiples(const struct rates *r, int k)
{
    for (size_t i = 0; i < r->first[r->n]; i++)
        if (fabs(r->value[i] * k - rint(r->value[i] * k)) > 1e-6 * k)
            return false;
    return true;
}

static int take_prompts(struct rates *r, json_t *all, const char *path, struct fault *f)
{
    size_t cap = 0;
    const char *name;
    json_t *visits;
    int rc = 0;

    if (json_object_size(all) == 0)
        return fault_set(f, FAULT_DATA,
                         "%s: holds no prompts; want {\"prompt\": [accuracy at each "
                         "visit], ...}",
                         path);
    r->first = mem_new(json_object_size(all) + 1, sizeof *r->first, "pass rates", f);
    if (!r->first)
        return f->code;
    json_object_foreach(all, name, visits)
    {
        if ((rc = take_prompt(r, &cap, name, visits, path, f)))
            break;
    }
    for (int k = 1; k <= MOST_SIZE && !rc && !r->size; k++)
        if (all_multiples(r, k))
            r->size = k;
    return rc;
}

int rates_read(struct rates *out, const char *path, struct fault *f)
{
    struct bytes text = {0};
    json_error_t why;
    json_t *all;
    int rc = file_read(path, MOST_FILE, &text, f);

    *out = (struct rates){0};
    if (rc)
        return rc;
    all =
        json_loadb(text.data ? text.data : "", text.len, JSON_REJECT_DUPLICATES, &why);
    bytes_free(&text);
    if (!all)
        return fault_set(f, FAULT_DATA, "%s: line %d: %s", path, why.line, why.text);
    rc = take_prompts(out, all, path, f);
    json_decref(all);
    if (rc)
        rates_free(out);
    return rc;
}

/* -- lengths ----------------------------------------------------------------------- */

struct row {
    long problem, correct, tokens;
};
enum column { PROBLEM, CORRECT, TOKENS, COLUMNS };
static const char *const column_name[COLUMNS] = {"problem_idx", "correct", "tokens"};

void lengths_free(struct lengths *l)
{
    free(l->item);
    free(l->tokens);
    *l = (struct lengths){0};
}

/* Where the columns we want stand in the head line; false if one is missing. */
static bool find_columns(char *line, int at[COLUMNS])
{
    int found = 0, i = 0;

    for (char *p = line; p; i++) {
        char *cell = strsep(&p, ",");

        for (int c = 0; c < COLUMNS; c++)
            if (!strcmp(cell, column_name[c])) {
                at[c] = i;
                found |= 1 << c;
            }
    }
    return found == (1 << COLUMNS) - 1;
}

static bool read_row(char *line, const int at[COLUMNS], struct row *out)
{
    long value[COLUMNS];
    int found = 0, i = 0;

    for (char *p = line; p; i++) {
        char *cell = strsep(&p, ","), *end;

        for (int c = 0; c < COLUMNS; c++) {
            if (at[c] != i)
                continue;
            errno = 0;
            value[c] = strtol(cell, &end, 10);
            if (end == cell || *end || errno)
                return false;
            found |= 1 << c;
        }
    }
    if (found != (1 << COLUMNS) - 1 || value[PROBLEM] < 0 || value[CORRECT] < 0 ||
        value[CORRECT] > 1 || value[TOKENS] < 1 || value[TOKENS] > INT_MAX)
        return false;
    *out = (struct row){value[PROBLEM], value[CORRECT], value[TOKENS]};
    return true;
}

static int read_rows(struct row **rows, size_t *n, char *text, const char *path,
                     struct fault *f)
{
    int at[COLUMNS];
    size_t cap = 0, number = 0;

    for (char *p = text; p && *p;) {
        char *line = strsep(&p, "\n");
        size_t len = strlen(line);

        if (len && line[len - 1] == '\r')
            line[len - 1] = '\0';
        if (number++ == 0) {
            if (!find_columns(line, at))
                return fault_set(f, FAULT_DATA,
                                 "%s: want CSV with columns problem_idx, correct and "
                                 "tokens in its first line",
                                 path);
            continue;
        }
        if (mem_grow((void **)rows, &cap, *n + 1, sizeof **rows, "lengths", f))
            return f->code;
        if (!read_row(line, at, &(*rows)[*n]))
            return fault_set(f, FAULT_DATA,
                             "%s: line %zu: want numbers, correct 0 or 1, tokens at "
                             "least 1",
                             path, number);
        ++*n;
    }
    if (*n == 0)
        return fault_set(f, FAULT_DATA, "%s: holds no samples", path);
    return 0;
}

static int by_problem(const void *a, const void *b)
{
    const struct row *x = a, *y = b;

    if (x->problem != y->problem)
        return x->problem < y->problem ? -1 : 1;
    if (x->correct != y->correct)
        return x->correct > y->correct ? -1 : 1;
    return (x->tokens > y->tokens) - (x->tokens < y->tokens);
}

static int by_rate(const void *a, const void *b)
{
    const struct samples *x = a, *y = b;

    if (x->rate != y->rate)
        return x->rate < y->rate ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int take_rows(struct lengths *l, struct row *rows, size_t n, struct fault *f)
{
    qsort(rows, n, sizeof *rows, by_problem);
    l->tokens = mem_new(n, sizeof *l->tokens, "lengths", f);
    l->item = mem_new(n, sizeof *l->item, "lengths", f);
    if (!l->tokens || !l->item)
        return f->code;
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || rows[i].problem != rows[i - 1].problem)
            l->item[l->n++].first = i;
        l->tokens[i] = (int)rows[i].tokens;
        l->item[l->n - 1].n++;
        l->item[l->n - 1].right += rows[i].correct == 1;
    }
    for (size_t i = 0; i < l->n; i++)
        l->item[i].rate = (double)l->item[i].right / (double)l->item[i].n;
    qsort(l->item, l->n, sizeof *l->item, by_rate);
    return 0;
}

int lengths_read(struct lengths *out, const char *path, struct fault *f)
{
    struct bytes text = {0};
    struct row *rows = NULL;
    size_t n = 0;
    int rc = file_read(path, MOST_FILE, &text, f);

    *out = (struct lengths){0};
    if (!rc && text.len && memchr(text.data, '\0', text.len))
        rc = fault_set(f, FAULT_DATA, "%s: is no text", path);
    if (!rc)
        rc = read_rows(&rows, &n, text.data, path, f);
    if (!rc)
        rc = take_rows(out, rows, n, f);
    free(rows);
    bytes_free(&text);
    if (rc)
        lengths_free(out);
    return rc;
}

size_t lengths_near(const struct lengths *l, double p, size_t *first)
{
    size_t low = 0, high = l->n, end;

    while (low < high) { /* the first rate >= p */
        size_t mid = low + (high - low) / 2;

        if (l->item[mid].rate < p)
            low = mid + 1;
        else
            high = mid;
    }
    if (low == l->n || (low > 0 && p - l->item[low - 1].rate <= l->item[low].rate - p))
        low--;
    end = low + 1;
    while (end < l->n && l->item[end].rate == l->item[low].rate)
        end++;
    while (low > 0 && l->item[low - 1].rate == l->item[low].rate)
        low--;
    *first = low;
    return end - low;
}
