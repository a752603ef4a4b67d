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

static double step_seconds(const struct sim_row *r)
{
    return sim_step_seconds(&r->t, r->groups);
}

static double all_tokens(const struct sim_row *r)
{
    double all = 0;

    for (int i = 0; i < FATE_COUNT; i++)
        all += (double)r->t.tokens[i];
    return all;
}

static double fate_share(const struct sim_row *r, enum fate fate)
{
    return percent((double)r->t.tokens[fate], all_tokens(r));
}

static double no_signal_share(const struct sim_row *r)
{
    return percent((double)r->t.tokens[FATE_ALL_CORRECT] +
                       (double)r->t.tokens[FATE_ALL_WRONG],
                   all_tokens(r));
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

/* Where a column is shown. */
enum {
    SIMULATE_TABLE = 1u << SIM_SIMULATE,
    REPLAY_TABLE = 1u << SIM_REPLAY,
    SIMULATE_CSV = SIMULATE_TABLE << 2,
    REPLAY_CSV = REPLAY_TABLE << 2,
    SIMULATE = SIMULATE_TABLE | SIMULATE_CSV,
    REPLAY = REPLAY_TABLE | REPLAY_CSV,
    CSV = SIMULATE_CSV | REPLAY_CSV,
    BOTH = SIMULATE | REPLAY
};

/* X(where, name in CSV, head, unit, decimals, value) */
#define COLUMN_LIST(X)                                                                 \
    X(BOTH, step_seconds, "step", "s", 3, step_seconds(r))                             \
    X(REPLAY, of_recorded, "of run", "x", 3, step_seconds(r) / r->recorded)            \
    X(BOTH, over_blind, "bound", "x", 3, step_seconds(r) / r->bound.blind)             \
    X(SIMULATE, over_oracle, "oracle", "x", 3, step_seconds(r) / r->bound.oracle)      \
    X(SIMULATE, over_overlap, "overlap", "x", 3, step_seconds(r) / r->bound.overlap)   \
    X(BOTH, candidates, "cand", "/step", 1, (double)r->t.started / (double)r->t.steps) \
    X(BOTH, tokens, "tokens", "/step", 0, (double)r->t.decoded / (double)r->t.steps)   \
    X(BOTH, trained, "trained", "%", 1, fate_share(r, FATE_TRAINED))                   \
    X(BOTH, no_signal, "nosign", "%", 1, no_signal_share(r))                           \
    X(BOTH, surplus, "surplus", "%", 1, fate_share(r, FATE_SURPLUS))                   \
    X(BOTH, cancelled, "cancel", "%", 1, fate_share(r, FATE_CANCELLED))                \
    X(BOTH, stale, "stale", "%", 1, fate_share(r, FATE_STALE))                         \
    X(SIMULATE, length_bias, "length", "%", 1, bias(r))                                \
    X(SIMULATE, length_error, "+-", "%", 1, bias_error(r))                             \
    X(CSV, truncated, "trunc", "%", 1,                                                 \
      percent((double)r->t.truncated, (double)r->t.sequences))                         \
    X(BOTH, short_steps, "short", "%", 1,                                              \
      percent((double)r->t.short_steps, (double)r->t.steps))                           \
    X(SIMULATE | CSV, stale_groups, "older", "%", 1,                                   \
      percent((double)r->t.stale, (double)r->t.groups))                                \
    X(BOTH, worst_rounds, "rounds", "most", 0, rounds(r))                              \
    X(BOTH, busy, "busy", "%", 1, 100 * sim_occupancy(&r->t, &r->m))                   \
    X(REPLAY, same_batches, "same", "steps", 0, (double)r->same)                       \
    X(REPLAY, drawn_groups, "drawn", "groups%", 1,                                     \
      percent((double)r->t.drawn_groups, (double)r->t.started))                        \
    X(REPLAY, drawn_tokens, "drawn", "tokens%", 1,                                     \
      percent((double)r->t.drawn_tokens, (double)r->t.decoded))                        \
    X(CSV, steps, "steps", "", 0, (double)r->t.steps)                                  \
    X(CSV, groups, "groups", "", 0, (double)r->t.groups)                               \
    X(CSV, seconds, "all", "s", 3, r->t.seconds)                                       \
    X(SIMULATE_CSV, bound_oracle, "oracle", "s", 3, r->bound.oracle)                   \
    X(SIMULATE_CSV, bound_blind, "bound", "s", 3, r->bound.blind)                      \
    X(SIMULATE_CSV, bound_overlap, "overlap", "s", 3, r->bound.overlap)

#define X(where, name, head, unit, decimals, value)     \
    static double value_##name(const struct sim_row *r) \
    {                                                   \
        return value;                                   \
    }
COLUMN_LIST(X)
#undef X

static const struct column {
    unsigned where; /* bits of the enum above */
    const char *name, *head, *unit;
    int decimals;
    double (*value)(const struct sim_row *);
} columns[] = {
#define X(where, name, head, unit, decimals, value) \
    {where, #name, head, unit, decimals, value_##name},
    COLUMN_LIST(X)
#undef X
};
#define COLUMNS (sizeof columns / sizeof columns[0])

static bool shown(const struct column *c, enum sim_table table, bool csv)
{
    return c->where & (1u << table << (csv ? 2 : 0));
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

static void csv_head(const struct sim_out *o)
{
    const char *comma = "";

    if (o->table == SIM_REPLAY)
        fputs("policy,", o->csv);
    for (int i = 0; i < o->sweep->n; i++)
        fprintf(o->csv, "%s,", o->sweep->axis[i].key);
    for (size_t k = 0; k < COLUMNS; k++)
        if (shown(&columns[k], o->table, true)) {
            fprintf(o->csv, "%s%s", comma, columns[k].name);
            comma = ",";
        }
    fputc('\n', o->csv);
}

void sim_show_head(const struct sim_out *o)
{
    for (int line = 0; line < 2; line++) {
        if (o->table == SIM_REPLAY)
            printf("%-*s ", NAME_WIDTH, line ? "" : "policy");
        for (int i = 0; i < o->sweep->n; i++)
            printf("%-*s ", key_width(&o->sweep->axis[i]),
                   line ? "" : short_key(o->sweep->axis[i].key));
        for (size_t k = 0; k < COLUMNS; k++)
            if (shown(&columns[k], o->table, false))
                printf(" %*s", width(&columns[k]),
                       line ? columns[k].unit : columns[k].head);
        putchar('\n');
    }
    if (o->csv)
        csv_head(o);
}

static const char *swept(const struct sim_out *o, int axis, int point)
{
    return point < 0 ? "" : sweep_value(o->sweep, axis, point);
}

static void csv_row(const struct sim_out *o, int point, const char *name,
                    const struct sim_row *r)
{
    const char *comma = "";

    if (o->table == SIM_REPLAY)
        fprintf(o->csv, "%s,", name);
    for (int i = 0; i < o->sweep->n; i++)
        fprintf(o->csv, "%s,", swept(o, i, point));
    for (size_t k = 0; k < COLUMNS; k++)
        if (shown(&columns[k], o->table, true)) {
            fprintf(o->csv, "%s%.10g", comma, columns[k].value(r));
            comma = ",";
        }
    fputc('\n', o->csv);
}

void sim_show_row(const struct sim_out *o, int point, const char *name,
                  const struct sim_row *r)
{
    if (o->table == SIM_REPLAY)
        printf("%-*s ", NAME_WIDTH, name);
    for (int i = 0; i < o->sweep->n; i++)
        printf("%-*s ", key_width(&o->sweep->axis[i]), swept(o, i, point));
    for (size_t k = 0; k < COLUMNS; k++) {
        double v;

        if (!shown(&columns[k], o->table, false))
            continue;
        v = columns[k].value(r);
        if (isfinite(v))
            printf(" %*.*f", width(&columns[k]), columns[k].decimals, v);
        else
            printf(" %*s", width(&columns[k]), "-");
    }
    putchar('\n');
    if (o->csv)
        csv_row(o, point, name, r);
}

int sim_out_open(struct sim_out *o, struct fault *f)
{
    if (!o->path || (o->csv = fopen(o->path, "w")))
        return 0;
    return fault_set(f, FAULT_FILE, "%s: can't be written: %s", o->path,
                     strerror(errno));
}

int sim_out_close(struct sim_out *o, int rc, struct fault *f)
{
    bool bad;

    if (!o->csv)
        return rc;
    bad = ferror(o->csv);
    bad |= fclose(o->csv) != 0;
    o->csv = NULL;
    if (rc || !bad)
        return rc;
    return fault_set(f, FAULT_FILE, "%s: can't be written: %s", o->path,
                     errno ? strerror(errno) : "the device refused");
}
