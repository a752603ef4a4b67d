/* prompts.c - reading a prompt file. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/data.h"
#include "dapo/mem.h"
#include "keys.h"

enum { FIELDS = 5 };

/* While the store still moves, a row is the offsets of its fields. */
struct reader {
    const char *path;
    long line;
    struct bytes store;
    size_t (*at)[FIELDS], n, cap;
};

static int add_row(struct reader *r, const json_t *json, struct fault *f)
{
    static const char *const name[FIELDS] = {"id", "question", "answer", "data_source",
                                             "solution"};
    int rc;

    if (!json_is_object(json))
        return fault_set(f, FAULT_DATA, "%s: line %ld: is not a JSON object", r->path,
                         r->line);
    if (mem_grow((void **)&r->at, &r->cap, r->n + 1, sizeof *r->at, "the prompts", f))
        return f->code;
    for (int k = 0; k < FIELDS; k++) {
        const json_t *value = json_object_get(json, name[k]);
        bool optional = k >= 3;
        const char *text = value || !optional ? json_string_value(value) : "";

        if (!text || (!*text && !optional))
            return fault_set(
                f, FAULT_DATA,
                "%s: line %ld: \"%s\" is %s; each line needs id, question "
                "and answer as non-empty strings (dapo prepare writes them)",
                r->path, r->line, name[k],
                !value  ? "missing"
                : !text ? "not a string"
                        : "empty");
        r->at[r->n][k] = r->store.len;
        if ((rc = bytes_add(&r->store, text, strlen(text) + 1, f)))
            return rc;
    }
    r->n++;
    return 0;
}

static int read_line(struct reader *r, const char *line, size_t n, struct fault *f)
{
    json_error_t why;
    json_t *json = json_loadb(line, n, JSON_REJECT_DUPLICATES, &why);
    int rc;

    if (!json)
        return fault_set(f, FAULT_DATA, "%s: line %ld: is not JSON: %s", r->path,
                         r->line, why.text);
    rc = add_row(r, json, f);
    json_decref(json);
    return rc;
}

static int read_lines(struct reader *r, const struct bytes *file, struct fault *f)
{
    int rc = 0;

    for (size_t at = 0; !rc && at < file->len;) {
        const char *end = memchr(file->data + at, '\n', file->len - at);
        size_t n = end ? (size_t)(end - file->data) - at : file->len - at;

        r->line++;
        rc = read_line(r, file->data + at, n, f);
        at += n + 1;
    }
    if (!rc && r->n == 0)
        rc = fault_set(f, FAULT_DATA, "%s: has no rows", r->path);
    return rc;
}

/* Every line is a row, so row i stands on line i + 1. */
static int check_ids(const struct prompts *p, const char *path, struct fault *f)
{
    struct keys ids = {0};
    int rc = 0;

    for (size_t i = 0; !rc && i < p->n; i++) {
        int fresh;
        const struct key_slot *s = keys_put(&ids, p->row[i].id, i, &fresh, f);

        if (!s)
            rc = f->code;
        else if (!fresh)
            rc = fault_set(f, FAULT_DATA,
                           "%s: line %zu: has the id \"%.100s\" of line %zu", path,
                           i + 1, p->row[i].id, s->value + 1);
    }
    keys_free(&ids);
    return rc;
}

/* The strings lie in the store one behind the other, so its bytes are the content. */
static int fill(struct prompts *out, struct reader *r, struct fault *f)
{
    out->row = mem_new(r->n, sizeof *out->row, "the prompts", f);
    if (!out->row)
        return f->code;
    out->n = r->n;
    for (size_t i = 0; i < r->n; i++) {
        const size_t *at = r->at[i];
        const char *s = r->store.data;

        out->row[i] =
            (struct prompt){s + at[0], s + at[1], s + at[2], s + at[3], s + at[4]};
    }
    out->hash = hash64(r->store.data, r->store.len, 0);
    out->store = r->store.data;
    r->store = (struct bytes){0};
    return check_ids(out, r->path, f);
}

int prompts_read(struct prompts *out, const char *path, struct fault *f)
{
    struct reader r = {.path = path};
    struct bytes file = {0};
    int rc = file_read(path, SIZE_MAX / 4, &file, f);

    *out = (struct prompts){0};
    if (!rc)
        rc = read_lines(&r, &file, f);
    if (!rc)
        rc = fill(out, &r, f);
    if (rc)
        prompts_free(out);
    bytes_free(&file);
    bytes_free(&r.store);
    free(r.at);
    return rc;
}

void prompts_free(struct prompts *p)
{
    free(p->row);
    free(p->store);
    *p = (struct prompts){0};
}
