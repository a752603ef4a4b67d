/* tree_text.h - a text's tree as one line, and tables of such; shared by the tests of
 * the parser. */
#ifndef TEST_TREE_TEXT_H
#define TEST_TREE_TEXT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "math/tree.h"

static inline struct math *work_new(void)
{
    struct math *m = calloc(1, sizeof *m);

    if (!m)
        abort();
    for (int i = 0; i < MAX_LITERALS; i++)
        mpq_init(m->literal[i]);
    return m;
}

static inline void work_free(struct math *m)
{
    for (int i = 0; i < MAX_LITERALS; i++)
        mpq_clear(m->literal[i]);
    free(m);
}

static inline const struct node *tree_of(struct math *m, const char *text, size_t n)
{
    const char *normal;

    m->used = 0;
    m->n_literals = 0;
    m->over = false;
    normal = math_normalise(m, text, n);
    return normal ? math_parse(m, normal) : NULL;
}

/* "NULL" if it can't be read, "OVER" over a bound; to be freed. */
static inline char *tree_text(struct math *m, const char *text, size_t n)
{
    const struct node *a = tree_of(m, text, n);
    char *out = NULL;
    size_t size;
    FILE *to = open_memstream(&out, &size);

    if (!to)
        abort();
    if (a)
        tree_print(a, to);
    else
        fputs(m->over ? "OVER" : "NULL", to);
    fclose(to);
    return out;
}

struct row {
    const char *text, *tree;
};

static inline void check_rows(const struct row *row, size_t n)
{
    struct math *m = work_new();

    for (size_t i = 0; i < n; i++) {
        char *got = tree_text(m, row[i].text, strlen(row[i].text));

        check_text(got, row[i].tree, row[i].text, __FILE__, __LINE__);
        free(got);
    }
    work_free(m);
}

#endif
