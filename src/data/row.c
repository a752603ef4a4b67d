/* row.c - what a row of a raw prompt file says. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "rows.h"

/* A scalar as text in *out; left alone if it is none.  Reals keep 15 digits, which give
 * back every decimal that was written with as many. */
static int scalar(const json_t *v, char **out, struct fault *f)
{
    char number[40];
    const char *text = json_string_value(v);

    if (json_is_integer(v))
        snprintf(number, sizeof number, "%lld", (long long)json_integer_value(v));
    else if (json_is_real(v))
        snprintf(number, sizeof number, "%.15g", json_real_value(v));
    else if (!text)
        return 0;
    *out = strdup(text ? text : number);
    return *out ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for a row");
}

static const json_t *first(const json_t *v)
{
    return json_is_array(v) ? json_array_get(v, 0) : v;
}

static const json_t *user_content(const json_t *prompt)
{
    const json_t *content = NULL;

    for (size_t i = 0; i < json_array_size(prompt); i++) {
        const json_t *turn = json_array_get(prompt, i);
        const char *role = json_string_value(json_object_get(turn, "role"));

        if (role && !strcmp(role, "user"))
            content = json_object_get(turn, "content");
    }
    return content;
}

static const json_t *question_of(const json_t *row)
{
    const json_t *v = json_object_get(row, "prompt");

    if (v)
        return json_is_array(v) ? user_content(v) : v;
    v = json_object_get(row, "question");
    return v ? v : json_object_get(row, "problem");
}

static const json_t *answer_of(const json_t *row)
{
    const json_t *v = json_object_get(row, "reward_model");

    return first(v ? json_object_get(v, "ground_truth")
                   : json_object_get(row, "answer"));
}

static const json_t *id_of(const json_t *row)
{
    const json_t *v = json_object_get(json_object_get(row, "extra_info"), "index");

    return v && !json_is_null(v) ? v : json_object_get(row, "id");
}

int row_parse(struct row *out, const json_t *json, struct fault *f)
{
    int rc;

    *out = (struct row){0};
    rc = scalar(id_of(json), &out->id, f);
    if (!rc)
        rc = scalar(question_of(json), &out->question, f);
    if (!rc)
        rc = scalar(answer_of(json), &out->answer, f);
    if (!rc)
        rc = scalar(json_object_get(json, "data_source"), &out->source, f);
    if (!rc && !out->source && !(out->source = strdup("")))
        rc = fault_set(f, FAULT_SYSTEM, "no memory for a row");
    if (rc)
        row_free(out);
    return rc;
}

void row_free(struct row *r)
{
    free(r->id);
    free(r->question);
    free(r->answer);
    free(r->source);
    *r = (struct row){0};
}
