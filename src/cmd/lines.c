/* lines.c - JSON lines of standard input. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"
#include "dapo/mem.h"
#include "dapo/text.h"

#define MOST_LINE ((size_t)64 << 20)

int lines_fault(const struct lines *l, struct fault *f)
{
    struct fault inner = *f;
    bool system = inner.code == FAULT_SYSTEM || inner.code == FAULT_BUG ||
                  inner.code == FAULT_FILE;

    return fault_set(f, system ? (enum fault_code)inner.code : FAULT_DATA,
                     "%s: line %ld: %s", l->name ? l->name : "standard input",
                     l->number, inner.text);
}

/* The next line without its newline into l->text; *n = SIZE_MAX at the end. */
static int read_line(struct lines *l, size_t *n, struct fault *f)
{
    void *text = l->text;
    int c = EOF;

    *n = 0;
    l->number++;
    while ((c = getc_unlocked(l->in)) != EOF && c != '\n') {
        if (*n == MOST_LINE)
            return fault_set(f, FAULT_DATA, "is longer than %zu bytes", MOST_LINE);
        if (*n == l->cap && mem_grow(&text, &l->cap, *n + 1, 1, "a line", f))
            return f->code;
        l->text = text;
        l->text[(*n)++] = (char)c;
    }
    if (c == EOF && ferror(l->in))
        return fault_set(f, FAULT_FILE, "can't be read: %s", strerror(errno));
    if (c == EOF && *n == 0)
        *n = SIZE_MAX;
    return 0;
}

int lines_next(struct lines *l, struct json_t **out, struct fault *f)
{
    json_error_t e;
    size_t n;

    *out = NULL;
    if (read_line(l, &n, f))
        return lines_fault(l, f);
    if (n == SIZE_MAX)
        return 0;
    *out = json_loadb(n ? l->text : "", n,
                      JSON_DECODE_ANY | JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &e);
    if (*out)
        return 0;
    fault_set(f, FAULT_DATA, n ? "is not JSON: %s" : "is empty", e.text);
    return lines_fault(l, f);
}

void lines_free(struct lines *l)
{
    free(l->text);
    l->text = NULL;
}

int lines_each(int (*take)(void *context, const struct json_t *line, struct fault *f),
               void *context, struct fault *f)
{
    struct lines in = {.in = stdin};
    json_t *line;
    int rc;

    while (!(rc = lines_next(&in, &line, f)) && line) {
        rc = take(context, line, f);
        json_decref(line);
        rc = rc ? lines_fault(&in, f) : cmd_written(f);
        if (rc)
            break;
    }
    lines_free(&in);
    return rc;
}

int json_ids(const struct json_t *line, int vocab, struct ids *out, struct fault *f)
{
    const json_t *list = json_is_object(line) ? json_object_get(line, "ids") : line, *v;
    size_t i;

    if (!json_is_array(list))
        return fault_set(f, FAULT_DATA, "has no list of ids: want {\"ids\": [1, 2]}");
    json_array_foreach(list, i, v)
    {
        json_int_t id = json_integer_value(v);

        if (!json_is_integer(v) || id < 0 || id >= vocab)
            return fault_set(f, FAULT_DATA, "ids[%zu] is not an id in [0, %d)", i,
                             vocab);
        if (ids_add(out, (int)id, f))
            return f->code;
    }
    return 0;
}
