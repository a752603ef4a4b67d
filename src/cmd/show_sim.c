/* show_sim.c - see show_sim.h. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cmd/show_sim.h"

static double percent(double part, double all)
{
    return all > 0 ? 100 * part / all : 0;
}

static double tokens_of(const struct sim_row *r, enum fate x, enum fate y)
{
    double all = 0;

    for (int i = 0; i < FATE_COUNT; i++)
        all += (double)r->t.tokens[i];
    return percent((double)r->t.tokens[x] + (x == y ? 0 : (double)r->t.tokens[y]), all);
}

static double bias(const struct sim_row *r)
{
    double error;

    return 100 * (sim_mean_length(&r->t, &error) / r->reference - 1);
}

static double bias_error(const struct sim_row *r)
{
    double error;

    sim_mean_length(&r->t, &error);
    return 100 * error / r->reference;
}

/* Unknown of a recorded run. */
static double rounds(const struct sim_row *r)
{
    return r->t.worst_rounds < 0 ? NAN : (double)r->t.worst_rounds;
}

/* X(table mask, name in CSV, head, unit, decimals, value); the mask says which tables
 * show it: 1 simulate, 2 replay; all are in both CSVs of their bit 4 and 8. */
#define COLUMN_LIST(X)                                                                 \
    X(15, step_seconds, "step", "s", 3, sim_step_seconds(&r->t, r->groups))            \
    X(10, of_recorded, "of run", "x", 3,                                               \
      sim_step_seconds(&r->t, r->groups) / r->recorded)                                \
    X(15, over_blind, "bound", "x", 3,                                                 \
      sim_step_seconds(&r->t, r->groups) / r->bound.blind)                             \
    X(5, over_oracle, "oracle", "x", 3,                                                \
      sim_step_seconds(&r->t, r->groups) / r->bound.oracle)                            \
    X(5, over_overlap, "overlap", "x", 3,                                              \
      sim_step_seconds(&r->t, r->groups) / r->bound.overlap)                           \
    X(15, candidates, "cand", "/step", 1, (double)r->t.started / (double)r->t.steps)   \
    X(15, tokens, "tokens", "/step", 0, (double)r->t.decoded / (double)r->t.steps)     \
    X(15, trained, "trained", "%", 1, tokens_of(r, FATE_TRAINED, FATE_TRAINED))        \
    X(15, no_signal, "nosign", "%", 1, tokens_of(r, FATE_ALL_CORRECT, FATE_ALL_WRONG)) \
    X(15, surplus, "surplus", "%", 1, tokens_of(r, FATE_SURPLUS, FATE_SURPLUS))        \
    X(15, cancelled, "cancel", "%", 1, tokens_of(r, FATE_CANCELLED, FATE_CANCELLED))   \
    X(15, stale, "stale", "%", 1, tokens_of(r, FATE_STALE, FATE_STALE))                \
    X(5, length_bias, "length", "%", 1, bias(r))                                       \
    X(5, length_error, "+-", "%", 1, bias_error(r))                                    \
    X(12, truncated, "trunc", "%", 1,                                                  \
      percent((double)r->t.truncated, (double)r->t.sequences))                         \
    X(15, short_steps, "short", "%", 1,                                                \
      percent((double)r->t.short_steps, (double)r->t.steps))                           \
    X(13, stale_groups, "older", "%", 1,                                               \
      percent((double)r->t.stale, (double)r->t.groups))                                \
    X(15, worst_rounds, "rounds", "most", 0, rounds(r))                                \
    X(15, busy, "busy", "%", 1, 100 * sim_occupancy(&r->t, &r->m))                     \
    X(10, same_batches, "same", "steps", 0, (double)r->same)                           \
    X(10, drawn_groups, "drawn", "groups%", 1,                                         \
      percent((double)r->t.drawn_groups, (double)r->t.started))                        \
    X(10, drawn_tokens, "drawn", "tokens%", 1,                                         \
      percent((double)r->t.drawn_tokens, (double)r->t.decoded))                        \
    X(12, steps, "steps", "", 0, (double)r->t.steps)                                   \
    X(12, groups, "groups", "", 0, (double)r->t.groups)                                \
    X(12, seconds, "all", "s", 3, r->t.seconds)                                        \
    X(4, bound_oracle, "oracle", "s", 3, r->bound.oracle)                              \
    X(4, bound_blind, "bound", "s", 3, r->bound.blind)                                 \
    X(4, bound_overlap, "overlap", "s", 3, r->bound.overlap)

#define X(mask, name, head, unit, decimals, value)      \
    static double value_##name(const struct sim_row *r) \
    {                                                   \
        return value;                                   \
    }
COLUMN_LIST(X)
#undef X

static const struct column {
    unsigned mask;
    const char *name, *head, *unit;
    int decimals;
    double (*value)(const struct sim_row *);
} columns[] = {
#define X(mask, name, head, unit, decimals, value) \
    {mask, #name, head, unit, decimals, value_##name},
    COLUMN_LIST(X)
#undef X
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static bool shown(const struct column *c, enum sim_table table, bool csv)
{
    return c->mask & (1u << table << (csv ? 2 : 0));
}

/* A column is as wide as its head and its widest likely number. */
static int width(const struct column *c)
{
    size_t n = strlen(c->head), m = strlen(c->unit);

    n = n > m ? n : m;
    return (int)(n > 7 ? n : 7);
}

static const char *short_key(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot ? dot + 1 : key;
}

static int key_width(const struct sweep_axis *x)
{
    size_t n = strlen(short_key(x->key));

    for (int i = 0; i < x->n; i++)
        if (strlen(x->value[i]) > n)
            n = strlen(x->value[i]);
    return (int)n;
}

#define NAME_WIDTH 10

void sim_show_head(FILE *to, enum sim_table table, const struct sweep *s, bool csv)
{
    const char *comma = "";

    if (csv) {
        if (table == SIM_REPLAY)
            fputs("policy,", to);
        for (int i = 0; i < s->n; i++, comma = ",")
            fprintf(to, "%s%s", comma, s->axis[i].key);
        for (size_t k = 0; k < COLUMNS; k++)
            if (shown(&columns[k], table, csv)) {
                fprintf(to, "%s%s", comma, columns[k].name);
                comma = ",";
            }
        fputc('\n', to);
        return;
    }
    for (int line = 0; line < 2; line++) {
        if (table == SIM_REPLAY)
            fprintf(to, "%-*s ", NAME_WIDTH, line ? "" : "policy");
        for (int i = 0; i < s->n; i++)
            fprintf(to, "%-*s ", key_width(&s->axis[i]),
                    line ? "" : short_key(s->axis[i].key));
        for (size_t k = 0; k < COLUMNS; k++)
            if (shown(&columns[k], table, csv))
                fprintf(to, " %*s", width(&columns[k]),
                        line ? columns[k].unit : columns[k].head);
        fputc('\n', to);
    }
}

void sim_show_row(FILE *to, enum sim_table table, const struct sweep *s, int point,
                  const char *name, const struct sim_row *r, bool csv)
{
    const char *comma = "";

    if (table == SIM_REPLAY) {
        if (csv)
            fputs(name, to);
        else
            fprintf(to, "%-*s ", NAME_WIDTH, name);
        comma = ",";
    }
    for (int i = 0; i < s->n; i++, comma = ",") {
        const char *value = point < 0 ? "" : sweep_value(s, i, point);

        if (csv)
            fprintf(to, "%s%s", comma, value);
        else
            fprintf(to, "%-*s ", key_width(&s->axis[i]), value);
    }
    for (size_t k = 0; k < COLUMNS; k++) {
        double v;

        if (!shown(&columns[k], table, csv))
            continue;
        v = columns[k].value(r);
        if (csv)
            fprintf(to, "%s%.10g", comma, v);
        else if (isfinite(v))
            fprintf(to, " %*.*f", width(&columns[k]), columns[k].decimals, v);
        else
            fprintf(to, " %*s", width(&columns[k]), "-");
        comma = ",";
    }
    fputc('\n', to);
}

int sim_csv_open(FILE **out, const char *path, struct fault *f)
{
    *out = path ? fopen(path, "w") : NULL;
    return !path || *out ? 0
                         : fault_set(f, FAULT_FILE, "%s: can't be written: %s", path,
                                     strerror(errno));
}

int sim_csv_close(FILE **out, const char *path, int rc, struct fault *f)
{
    bool bad;

    if (!*out)
        return rc;
    bad = ferror(*out);
    bad |= fclose(*out) != 0;
    *out = NULL;
    if (rc || !bad)
        return rc;
    return fault_set(f, FAULT_FILE, "%s: can't be written: %s", path,
                     errno ? strerror(errno) : "the device refused");
}
