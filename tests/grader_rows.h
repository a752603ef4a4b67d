/* grader_rows.h - the cases of DAPO_DATA/grader, for tests and speed programs. */
#ifndef DAPO_TESTS_GRADER_ROWS_H
#define DAPO_TESTS_GRADER_ROWS_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rows of DIR/grader/NAME.jsonl as an array, empty if there is no such file; a line
 * that isn't JSON is null. */
static inline json_t *grader_rows(const char *dir, const char *name)
{
    json_t *rows = json_array();
    char path[512], *line = NULL;
    size_t cap = 0;
    FILE *in;

    snprintf(path, sizeof path, "%s/grader/%s.jsonl", dir, name);
    in = fopen(path, "r");
    while (in && getline(&line, &cap, in) > 0) {
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);

        json_array_append_new(rows, row ? row : json_null());
    }
    free(line);
    if (in)
        fclose(in);
    return rows;
}

/* A field of a row, "" if it isn't a string. */
static inline const char *row_text(const json_t *row, const char *name)
{
    const char *s = json_string_value(json_object_get(row, name));

    return s ? s : "";
}

#endif
