/* columns.c - the columns of a step file, once: names, types, values. */
#include <string.h>

#include "store/rows.h"

enum kind { I64, F64, I32, F32, U8, FATE, FINISH };

/* X(name, kind, value from group g) */
#define CANDIDATE_LIST(X)                        \
    X(index, I64, i, g->index)                   \
    X(prompt_id, I64, i, g->prompt)              \
    X(fate, FATE, i, (int64_t)g->fate)           \
    X(n_correct, I64, i, group_correct(g))       \
    X(n_tokens, I64, i, group_tokens(g))         \
    X(n_prompt, I64, i, g->n_prompt)             \
    X(policy_version, I64, i, g->policy_version) \
    X(replica, I64, i, g->replica)               \
    X(started_s, F64, d, g->started_s)           \
    X(finished_s, F64, d, g->finished_s)
/* X(name, kind, value from completion c of group p->g) */
#define COMPLETION_LIST(X)                          \
    X(candidate, I64, i, p->g->index)               \
    X(member, I64, i, p->member)                    \
    X(n_tokens, I64, i, c->n_tokens)                \
    X(finish_reason, FINISH, i, (int64_t)c->finish) \
    X(correct, I64, i, c->correct)                  \
    X(answer_found, I64, i, c->answer_found)        \
    X(raw_reward, F64, d, c->raw_reward)            \
    X(length_penalty, F64, d, c->length_penalty)    \
    X(shaped_reward, F64, d, c->shaped_reward)      \
    X(advantage, F64, d, c->advantage)              \
    X(answer_offset, I64, i, c->answer_offset)

#define X(name, kind, field, value)                                           \
    static const void *candidate_##name(const struct place *p, union cell *v, \
                                        size_t *n)                            \
    {                                                                         \
        const struct group *g = p->g;                                         \
                                                                              \
        v->field = value;                                                     \
        *n = 1;                                                               \
        return v;                                                             \
    }
CANDIDATE_LIST(X)
#undef X
#define X(name, kind, field, value)                                            \
    static const void *completion_##name(const struct place *p, union cell *v, \
                                         size_t *n)                            \
    {                                                                          \
        const struct completion *c = p->c;                                     \
                                                                               \
        (void)c;                                                               \
        v->field = value;                                                      \
        *n = 1;                                                                \
        return v;                                                              \
    }
COMPLETION_LIST(X)
#undef X

static const void *token_ids(const struct place *p, union cell *v, size_t *n)
{
    (void)v;
    *n = (size_t)p->c->n_tokens;
    return p->c->ids;
}

static const void *token_logprobs(const struct place *p, union cell *v, size_t *n)
{
    (void)v;
    *n = (size_t)p->c->n_tokens;
    return p->c->logprobs;
}

static const void *answer(const struct place *p, union cell *v, size_t *n)
{
    (void)v;
    *n = p->c->answer ? strlen(p->c->answer) : 0;
    return p->c->answer;
}

static const void *token_offset(const struct place *p, union cell *v, size_t *n)
{
    v->i = p->at[TOKENS];
    *n = 1;
    return v;
}

static const void *answer_start(const struct place *p, union cell *v, size_t *n)
{
    v->i = p->at[ANSWERS];
    *n = 1;
    return v;
}

struct column {
    const char *name;
    enum kind kind;
    enum table items; /* how many rows, and where each rank's lie */
    enum table end;   /* an offset column has one row more, with this table's total */
    column_get *get;
};

#define NO_END TABLES
static const struct column columns[] = {
#define X(name, kind, field, value) \
    {"/candidates/" #name, kind, CANDIDATES, NO_END, candidate_##name},
    CANDIDATE_LIST(X)
#undef X
#define X(name, kind, field, value) \
    {"/completions/" #name, kind, COMPLETIONS, NO_END, completion_##name},
        COMPLETION_LIST(X)
#undef X
            {"/tokens/completion_offset", I64, COMPLETIONS, TOKENS, token_offset},
    {"/answers/completion_offset", I64, COMPLETIONS, ANSWERS, answer_start},
    {"/tokens/ids", I32, TOKENS, NO_END, token_ids},
    {"/tokens/logprobs", F32, TOKENS, NO_END, token_logprobs},
    {"/answers/bytes", U8, ANSWERS, NO_END, answer},
};
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static size_t width_of(enum kind k)
{
    return k == U8 ? 1 : k == I32 || k == F32 ? 4 : 8;
}

static void enum_add(struct h5 *h, hid_t type, const char *name, int64_t value)
{
    h5_check(h, H5Tenum_insert(type, name, &value));
}

/* The HDF5 type of each kind; the enumerations carry their names. */
static void make_types(struct h5 *h, hid_t type[])
{
    type[I64] = H5T_NATIVE_INT64;
    type[F64] = H5T_NATIVE_DOUBLE;
    type[I32] = H5T_NATIVE_INT32;
    type[F32] = H5T_NATIVE_FLOAT;
    type[U8] = H5T_NATIVE_UINT8;
    type[FATE] = h5_keep(h, H5Tenum_create(H5T_NATIVE_INT64));
    for (int i = 0; i < FATE_COUNT; i++)
        enum_add(h, type[FATE], fate_text((enum fate)i), i);
    type[FINISH] = h5_keep(h, H5Tenum_create(H5T_NATIVE_INT64));
    for (int i = 0; i < FINISH_COUNT; i++)
        enum_add(h, type[FINISH], finish_text((enum finish)i), i);
}

/* Items [done, done + n) of this rank's, as a selection in the file. */
static hid_t select_own(struct h5 *h, const struct part *p, hsize_t total, hsize_t done,
                        hsize_t n)
{
    hid_t space = h5_keep(h, H5Screate_simple(1, &total, NULL));

    h5_check(h, H5Sselect_none(space));
    for (int i = 0; i < p->n && n > 0; i++) {
        hsize_t skip = done < p->count[i] ? done : p->count[i];
        hsize_t take = p->count[i] - skip < n ? p->count[i] - skip : n;
        hsize_t first = p->first[i] + skip;

        done -= skip;
        n -= take;
        if (take)
            h5_check(h, H5Sselect_hyperslab(space, H5S_SELECT_OR, &first, NULL, &take,
                                            NULL));
    }
    return space;
}

/* One column, all ranks' rows, in as many rounds as the largest share needs. */
static void write_column(struct draft *d, const struct column *c, const hid_t *type,
                         hid_t dataset, hid_t transfer, const struct rows *rows)
{
    struct h5 *h = &d->h;
    const struct part *p = rows->part + c->items;
    size_t width = width_of(c->kind), most = d->store->window / width;
    hsize_t total = (hsize_t)p->total + (c->end != NO_END), done = 0;
    struct cells cells;

    cells_begin(&cells, rows, c->items, c->get, width);
    for (int64_t left = p->most; left > 0; left -= (int64_t)most) {
        int mark = h->n;
        hsize_t n = cells_next(&cells, d->store->scratch, most), one = n ? n : 1;
        hid_t memory = h5_keep(h, H5Screate_simple(1, &one, NULL));
        hid_t space = select_own(h, p, total, done, n);

        if (n == 0)
            h5_check(h, H5Sselect_none(memory));
        h5_check(h, H5Dwrite(dataset, type[c->kind], memory, space, transfer,
                             d->store->scratch));
        done += n;
        h5_drop(h, mark);
    }
    if (c->end != NO_END) {
        bool last = comm_rank(d->store->comm) == 0;

        h5_write(h, dataset, type[c->kind], transfer, total - 1, last,
                 &rows->part[c->end].total);
    }
}

int columns_write_all(struct draft *d, const struct rows *rows, struct fault *f)
{
    struct h5 *h = &d->h;
    hid_t dataset[COLUMNS], type[FINISH + 1], transfer = h5_transfer(h, true);
    int rc;

    make_types(h, type);
    h5_group(h, d->file, "/candidates");
    h5_group(h, d->file, "/completions");
    h5_group(h, d->file, "/tokens");
    h5_group(h, d->file, "/answers");
    for (int i = 0; i < COLUMNS; i++) {
        const struct column *c = columns + i;
        hsize_t total = (hsize_t)rows->part[c->items].total + (c->end != NO_END);

        dataset[i] = h5_column(h, d->file, c->name, type[c->kind], total);
    }
    if ((rc = draft_agree_all(d, f)))
        return rc;
    for (int i = 0; i < COLUMNS; i++) {
        write_column(d, columns + i, type, dataset[i], transfer, rows);
        draft_written(d);
    }
    return 0;
}

size_t columns_bytes(const struct rows *rows)
{
    size_t sum = 0;

    for (int i = 0; i < COLUMNS; i++)
        sum += width_of(columns[i].kind) * (size_t)rows->part[columns[i].items].total;
    return sum;
}
