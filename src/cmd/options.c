/* options.c - taking options out of a command's arguments. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/cmd.h"

static void drop(struct cmd_env *e, int at, int n)
{
    for (int i = at; i + n < e->argc; i++)
        e->argv[i] = e->argv[i + n];
    e->argc -= n;
}

int cmd_option(struct cmd_env *e, const char *name, const char **value, struct fault *f)
{
    size_t n = strlen(name);

    *value = NULL;
    for (int i = 0; i < e->argc; i++) {
        if (!strncmp(e->argv[i], name, n) && e->argv[i][n] == '=') {
            *value = e->argv[i] + n + 1;
            drop(e, i, 1);
            return 0;
        }
        if (strcmp(e->argv[i], name))
            continue;
        if (i + 1 >= e->argc)
            return fault_set(f, FAULT_USAGE, "%s needs a value; see dapo help %s", name,
                             e->name);
        *value = e->argv[i + 1];
        drop(e, i, 2);
        return 0;
    }
    return 0;
}

bool cmd_flag(struct cmd_env *e, const char *name)
{
    for (int i = 0; i < e->argc; i++)
        if (!strcmp(e->argv[i], name)) {
            drop(e, i, 1);
            return true;
        }
    return false;
}

int cmd_int(struct cmd_env *e, const char *name, int64_t lo, int64_t hi, int64_t *value,
            struct fault *f)
{
    const char *text;
    char *end;
    int rc = cmd_option(e, name, &text, f);
    long long v;

    if (rc || !text)
        return rc;
    errno = 0;
    v = strtoll(text, &end, 10);
    if (end == text || *end || errno || v < lo || v > hi)
        return fault_set(f, FAULT_USAGE,
                         "%s %.60s: want an integer in [%" PRId64 ", %" PRId64 "]",
                         name, text, lo, hi);
    *value = v;
    return 0;
}

int cmd_real(struct cmd_env *e, const char *name, double lo, double hi, double *value,
             struct fault *f)
{
    const char *text;
    char *end;
    int rc = cmd_option(e, name, &text, f);
    double v;

    if (rc || !text)
        return rc;
    v = strtod(text, &end);
    if (end == text || *end || !(v >= lo && v <= hi))
        return fault_set(f, FAULT_USAGE, "%s %.60s: want a number in [%g, %g]", name,
                         text, lo, hi);
    *value = v;
    return 0;
}

int cmd_choice(struct cmd_env *e, const char *name, const char *choices, int *value,
               struct fault *f)
{
    const char *text;
    int rc = cmd_option(e, name, &text, f), i = 0;

    if (rc || !text)
        return rc;
    for (const char *c = choices; c; i++) {
        size_t n = strcspn(c, "|");

        if (n == strlen(text) && !strncmp(c, text, n)) {
            *value = i;
            return 0;
        }
        c = c[n] ? c + n + 1 : NULL;
    }
    return fault_set(f, FAULT_USAGE, "%s %.60s: want one of %s", name, text, choices);
}

int cmd_rest(const struct cmd_env *e, int least, int most, struct fault *f)
{
    for (int i = 0; i < e->argc; i++)
        if (e->argv[i][0] == '-' && e->argv[i][1])
            return fault_set(f, FAULT_USAGE, "unknown option %.60s; see dapo help %s",
                             e->argv[i], e->name);
    if (e->argc < least || e->argc > most)
        return fault_set(f, FAULT_USAGE, "dapo %s: %s arguments; see dapo help %s",
                         e->name, e->argc < least ? "too few" : "too many", e->name);
    return 0;
}

int cmd_written(struct fault *f)
{
    return ferror(stdout)
               ? fault_set(f, FAULT_FILE, "standard output can't be written: %s",
                           errno ? strerror(errno) : "the device refused")
               : 0;
}
