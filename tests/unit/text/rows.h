/* rows.h - the reference files of tests/ref/text, row by row. */
#ifndef ROWS_H
#define ROWS_H

#include <jansson.h>
#include <string.h>

#include "check.h"
#include "dapo/mem.h"
#include "dapo/text.h"

#define REF "tests/ref/text/"

/* Call `row` for each line of a JSON-lines file; returns their number. */
static inline int rows_each(const char *path, void (*row)(const json_t *))
{
    struct fault f = FAULT_INIT;
    struct bytes file = {0};
    char *line, *save = NULL;
    int n = 0;

    CHECK_OK(file_read(path, 1 << 25, &file, &f), &f);
    line = file.data ? strtok_r(file.data, "\n", &save) : NULL;
    for (; line; line = strtok_r(NULL, "\n", &save), n++) {
        json_t *j = json_loads(line, JSON_ALLOW_NUL, NULL);

        CHECK(j != NULL);
        row(j);
        json_decref(j);
    }
    bytes_free(&file);
    return n;
}

static inline const char *row_text(const json_t *row, const char *key)
{
    const char *s = json_string_value(json_object_get(row, key));

    return s ? s : "";
}

static inline size_t row_size(const json_t *row, const char *key)
{
    return json_string_length(json_object_get(row, key));
}

/* Whether got is the list row[key]; says so on stderr if not. */
static inline bool row_ids(const json_t *row, const char *key, const struct ids *got)
{
    const json_t *want = json_object_get(row, key);
    bool same = json_array_size(want) == got->n;

    for (size_t i = 0; i < got->n && same; i++)
        same = json_integer_value(json_array_get(want, i)) == got->id[i];
    if (!same) {
        char *text = json_dumps(row, JSON_ENCODE_ANY);

        fprintf(stderr, "%.900s\n  got:", text ? text : "?");
        for (size_t i = 0; i < got->n && i < 60; i++)
            fprintf(stderr, " %d", got->id[i]);
        fprintf(stderr, "\n");
        free(text);
    }
    return same;
}

#endif
