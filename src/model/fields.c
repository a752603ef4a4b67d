/* fields.c - single values out of a JSON object. */
#include <limits.h>
#include <math.h>

#include "model/fields.h"

const json_t *field_find(const struct source *s, const char *key)
{
    const json_t *v = json_object_get(s->root, key);

    return json_is_null(v) ? NULL : v;
}

int field_missing(const struct source *s, const char *key)
{
    return fault_set(s->f, FAULT_DATA, "%s: \"%s\" is missing", s->path, key);
}

int field_int(const struct source *s, const char *key, int fallback, int *out)
{
    const json_t *v = field_find(s, key);

    if (!v && fallback < 0)
        return field_missing(s, key);
    *out = fallback;
    if (!v)
        return 0;
    if (!json_is_integer(v) || json_integer_value(v) < 0 ||
        json_integer_value(v) > INT_MAX)
        return fault_set(s->f, FAULT_DATA,
                         "%s: \"%s\" is not a whole number from 0 to %d", s->path, key,
                         INT_MAX);
    *out = (int)json_integer_value(v);
    return 0;
}

int field_real(const struct source *s, const char *key, double fallback, double *out)
{
    const json_t *v = field_find(s, key);

    if (!v && isnan(fallback))
        return field_missing(s, key);
    *out = fallback;
    if (!v)
        return 0;
    if (!json_is_number(v) || !isfinite(json_number_value(v)))
        return fault_set(s->f, FAULT_DATA, "%s: \"%s\" is not a number", s->path, key);
    *out = json_number_value(v);
    return 0;
}

int field_bool(const struct source *s, const char *key, bool fallback, bool *out)
{
    const json_t *v = field_find(s, key);

    *out = v ? json_is_true(v) : fallback;
    if (v && !json_is_boolean(v))
        return fault_set(s->f, FAULT_DATA, "%s: \"%s\" is not true or false", s->path,
                         key);
    return 0;
}

int field_text(const struct source *s, const char *key, const char **out)
{
    const json_t *v = field_find(s, key);

    if (!v)
        return field_missing(s, key);
    *out = json_string_value(v);
    if (!*out)
        return fault_set(s->f, FAULT_DATA, "%s: \"%s\" is not a text", s->path, key);
    return 0;
}
