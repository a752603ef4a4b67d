/* sweep.c - see sweep.h. */
#include <stdlib.h>
#include <string.h>

#include "cmd/sweep.h"
#include "dapo/mem.h"

#define MOST_POINTS 1000000

void sweep_free(struct sweep *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->axis[i].key);
        free(s->axis[i].text);
        free((void *)s->axis[i].value);
    }
    *s = (struct sweep){0};
}

/* Whether `key` is one of "a|b|c". */
static bool is_one_of(const char *key, const char *choices)
{
    for (const char *c = choices; c;) {
        size_t n = strcspn(c, "|");

        if (n == strlen(key) && !strncmp(c, key, n))
            return true;
        c = c[n] ? c + n + 1 : NULL;
    }
    return false;
}

static int add_axis(struct sweep *s, const char *arg, const char *others,
                    struct fault *f)
{
    size_t n = strcspn(arg, "="), values = 1;
    struct sweep_axis *x = &s->axis[s->n];

    if (s->n == SWEEP_AXES)
        return fault_set(f, FAULT_USAGE, "--sweep more than %d times", SWEEP_AXES);
    if (n == 0 || !arg[n] || !arg[n + 1])
        return fault_set(f, FAULT_USAGE, "--sweep %.60s: want KEY=VALUE,VALUE,...",
                         arg);
    for (const char *p = arg + n + 1; *p; p++)
        values += *p == ',';
    *x = (struct sweep_axis){strndup(arg, n), strdup(arg + n + 1), NULL, 0};
    s->n++;
    x->value = mem_new(values, sizeof *x->value, "a sweep", f);
    if (!x->key || !x->text || !x->value)
        return fault_set(f, FAULT_SYSTEM, "no memory for a sweep");
    for (char *p = x->text; p;) {
        x->value[x->n] = strsep(&p, ",");
        if (!*x->value[x->n++])
            return fault_set(f, FAULT_USAGE, "--sweep %.60s: a value is empty", arg);
    }
    if (!strchr(x->key, '.') && !is_one_of(x->key, others))
        return fault_set(f, FAULT_USAGE,
                         "--sweep %.60s: want a setting as section.key, or one of %s",
                         x->key, others);
    for (int i = 0; i + 1 < s->n; i++)
        if (!strcmp(s->axis[i].key, x->key))
            return fault_set(f, FAULT_USAGE, "--sweep %.60s: twice", x->key);
    if (sweep_points(s) > MOST_POINTS)
        return fault_set(f, FAULT_USAGE, "--sweep: over %d combinations", MOST_POINTS);
    return 0;
}

int sweep_take(struct sweep *s, struct cmd_env *e, const char *others, struct fault *f)
{
    const char *arg;
    int rc;

    *s = (struct sweep){0};
    while (!(rc = cmd_option(e, "--sweep", &arg, f)) && arg)
        if ((rc = add_axis(s, arg, others, f)))
            break;
    return rc;
}

int sweep_points(const struct sweep *s)
{
    double n = 1;

    for (int i = 0; i < s->n; i++)
        n *= s->axis[i].n;
    return n > MOST_POINTS ? MOST_POINTS + 1 : (int)n;
}

const char *sweep_value(const struct sweep *s, int axis, int point)
{
    for (int i = s->n - 1; i > axis; i--)
        point /= s->axis[i].n;
    return s->axis[axis].value[point % s->axis[axis].n];
}

int sweep_config(const struct sweep *s, int point, const struct cmd_env *e,
                 const char *text, struct config *out, struct fault *f)
{
    size_t most = (size_t)e->n_set + (size_t)s->n;
    const char **set = mem_new(most, sizeof *set, "settings", f);
    char *own[SWEEP_AXES] = {0};
    int n = 0, rc = set ? 0 : f->code;

    for (; !rc && n < e->n_set; n++)
        set[n] = e->set[n];
    for (int i = 0; !rc && i < s->n; i++) {
        struct bytes b = {0};

        if (!strchr(s->axis[i].key, '.'))
            continue;
        rc = bytes_printf(&b, f, "%s=%s", s->axis[i].key, sweep_value(s, i, point));
        own[i] = b.data;
        set[n++] = b.data;
    }
    if (!rc)
        rc = text ? config_parse(out, e->job, text, set, n, f)
                  : config_read(out, e->job, set, n, f);
    for (int i = 0; i < SWEEP_AXES; i++)
        free(own[i]);
    free((void *)set);
    return rc;
}

int sweep_real(const struct sweep *s, int point, const char *key, double lo, double hi,
               double *value, struct fault *f)
{
    for (int i = 0; i < s->n; i++) {
        const char *text = sweep_value(s, i, point);
        char *end;
        double v;

        if (strcmp(s->axis[i].key, key))
            continue;
        v = strtod(text, &end);
        if (end == text || *end || !(v >= lo && v <= hi))
            return fault_set(f, FAULT_USAGE,
                             "--sweep %s: %.60s: want a number in [%g, %g]", key, text,
                             lo, hi);
        *value = v;
    }
    return 0;
}
