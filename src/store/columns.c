/* columns.c - the columns of a step file, once: names, types, values. */
#include <string.h>

#include "store/rows.h"

enum kind { I64, F64, I32, F32, U8, FATE, FINISH, VERDICT };

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
/* Only where groups may span steps. */
#define CANDIDATE_SPANS(X)             \
    X(born_step, I64, i, g->born_step) \
    X(born_index, I64, i, g->born_index)
/* X(name, kind, value from completion c of group p->g) */
#define COMPLETION_LIST(X)                          \
    X(candidate, I64, i, p->g->index)               \
    X(member, I64, i, p->member)                    \
    X(n_tokens, I64, i, c->n_tokens)                \
    X(finish_reason, FINISH, i, (int64_t)c->finish) \
    X(correct, I64, i, c->correct)                  \
    X(answer_found, I64, i, c->answer_found)        \
    X(verdict, VERDICT, i, (int64_t)c->verdict)     \
    X(raw_reward, F64, d, c->raw_reward)            \
    X(length_penalty, F64, d, c->length_penalty)    \
    X(shaped_reward, F64, d, c->shaped_reward)      \
    X(advantage, F64, d, c->advantage)              \
    X(answer_offset, I64, i, c->answer_offset)
#define COMPLETION_SPANS(X) X(n_carried, I64, i, c->n_carried)

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
CANDIDATE_SPANS(X)
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
COMPLETION_SPANS(X)
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

static const void *token_versions(const struct place *p, union cell *v, size_t *n)
{
    (void)v;
    *n = (size_t)p->c->n_tokens;
    return p->c->versions;
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
    bool spans; /* only where groups may span steps */
};

#define NO_END TABLES
static const struct column columns[] = {
#define X(name, kind, field, value) \
    {"/candidates/" #name, kind, CANDIDATES, NO_END, candidate_##name, false},
    CANDIDATE_LIST(X)
#undef X
#define X(name, kind, field, value) \
    {"/candidates/" #name, kind, CANDIDATES, NO_END, candidate_##name, true},
        CANDIDATE_SPANS(X)
#undef X
#define X(name, kind, field, value) \
    {"/completions/" #name, kind, COMPLETIONS, NO_END, completion_##name, false},
            COMPLETION_LIST(X)
#undef X
#define X(name, kind, field, value) \
    {"/completions/" #name, kind, COMPLETIONS, NO_END, completion_##name, true},
                COMPLETION_SPANS(X)
#undef X
                    {"/tokens/completion_offset", I64, COMPLETIONS, TOKENS,
                     token_offset, false},
    {"/answers/completion_offset", I64, COMPLETIONS, ANSWERS, answer_start, false},
    {"/tokens/ids", I32, TOKENS, NO_END, token_ids, false},
    {"/tokens/logprobs", F32, TOKENS, NO_END, token_logprobs, false},
    {"/tokens/policy_version", I32, TOKENS, NO_END, token_versions, true},
    {"/answers/bytes", U8, ANSWERS, NO_END, answer, false},
};
_Static_assert(sizeof columns / sizeof columns[0] <= SMALL_COLUMNS, "room in gather");
#define COLUMNS ((int)(sizeof columns / sizeof columns[0]))

static bool wanted(const struct rows *rows, int i)
{
    return rows->spans || !columns[i].spans;
}

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
    type[VERDICT] = h5_keep(h, H5Tenum_create(H5T_NATIVE_INT64));
    for (int i = 0; i < VERDICT_COUNT; i++)
        enum_add(h, type[VERDICT], verdict_text((enum verdict_kind)i), i);
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

/* A column of large runs: each rank writes its own, in pieces that fit the scratch. */
static void write_runs(struct draft *d, const struct column *c, hid_t type,
                       hid_t dataset, const struct rows *rows)
{
    struct h5 *h = &d->h;
    const struct part *p = rows->part + c->items;
    size_t width = width_of(c->kind), most = d->store->window / width, n;
    hsize_t done = 0;
    struct cells cells;

    cells_begin(&cells, rows, c->get, width);
    while (!h->bad && (n = cells_next(&cells, d->store->scratch, most)) > 0) {
        int mark = h->n;
        hsize_t items = n;
        hid_t memory = h5_keep(h, H5Screate_simple(1, &items, NULL));
        hid_t space = select_own(h, p, (hsize_t)p->total, done, items);

        h5_pass(h, INJECT_WRITE);
        h5_check(
            h, H5Dwrite(dataset, type, memory, space, H5P_DEFAULT, d->store->scratch));
        done += items;
        h5_drop(h, mark);
    }
}

/* This rank's part of the checksum of such a column: a sum, so that it doesn't matter
 * which rank has which rows. */
static uint64_t sum_runs(const struct column *c, const struct rows *rows)
{
    size_t width = width_of(c->kind), n;
    uint64_t sum = 0;

    for (int i = 0; i < rows->n; i++) {
        int64_t at = rows->at[i][c->items];

        for (int m = 0; m < rows->group[i]->size; m++) {
            struct place p = {rows->group[i], &rows->group[i]->members[m], m, {0}};
            union cell v;
            const void *data = c->get(&p, &v, &n);

            sum += chunk_sum(data, n * width, at);
            at += (int64_t)n;
        }
    }
    return sum;
}

/* A column of small rows: rank 0 has all of them in `cell` and writes it at once.
 * Returns its checksum. */
static uint64_t write_gathered(struct draft *d, const struct column *c, hid_t type,
                               hid_t dataset, const struct rows *rows, union cell *cell)
{
    hsize_t n = (hsize_t)rows->part[c->items].total;

    if (c->end != NO_END)
        cell[n++].i = rows->part[c->end].total;
    h5_write(&d->h, dataset, type, 0, n, cell);
    return chunk_sum(cell, n * sizeof *cell, 0);
}

/* Small rows go through rank 0: written by their owners, each column would be many
 * scattered writes of a few bytes, and neighbouring ranks' in the same disk block. */
static int write_small_all(struct draft *d, const hid_t *type, const hid_t *dataset,
                           const struct rows *rows, int64_t *sums, struct fault *f)
{
    struct comm *comm = d->store->comm;
    column_get *get[2][SMALL_COLUMNS];
    int n[2] = {0};
    struct gathered g;
    int rc;

    for (int i = 0; i < COLUMNS; i++)
        if (wanted(rows, i) && columns[i].items <= COMPLETIONS)
            get[columns[i].items][n[columns[i].items]++] = columns[i].get;
    rc = gather_all(&g, rows, comm, get, n, f);
    n[CANDIDATES] = n[COMPLETIONS] = 0;
    for (int i = 0; !rc && comm_rank(comm) == 0 && i < COLUMNS; i++) {
        const struct column *c = columns + i;

        if (!wanted(rows, i) || c->items > COMPLETIONS)
            continue;
        gather_column(&g, rows, c->items, n[c->items]++);
        sums[i] =
            (int64_t)write_gathered(d, c, type[c->kind], dataset[i], rows, g.column);
    }
    gather_free(&g);
    return rc;
}

static void create_columns(struct draft *d, const struct rows *rows, const hid_t *type,
                           hid_t *dataset)
{
    h5_group(&d->h, d->file, "/candidates");
    h5_group(&d->h, d->file, "/completions");
    h5_group(&d->h, d->file, "/tokens");
    h5_group(&d->h, d->file, "/answers");
    for (int i = 0; i < COLUMNS; i++) {
        const struct column *c = columns + i;
        hsize_t total = (hsize_t)rows->part[c->items].total + (c->end != NO_END);

        if (wanted(rows, i))
            dataset[i] = h5_column(&d->h, d->file, c->name, type[c->kind], total);
    }
}

int columns_write_all(struct draft *d, const struct rows *rows, struct fault *f)
{
    hid_t dataset[COLUMNS], type[VERDICT + 1];
    int64_t sums[COLUMNS] = {0}; /* modulo 2^64 */
    int rc;

    make_types(&d->h, type);
    create_columns(d, rows, type, dataset);
    if ((rc = draft_agree_all(d, 0, f)))
        return rc;
    if ((rc = write_small_all(d, type, dataset, rows, sums, f)))
        return rc;
    for (int i = 0; i < COLUMNS; i++)
        if (wanted(rows, i) && columns[i].items > COMPLETIONS) {
            sums[i] = (int64_t)sum_runs(columns + i, rows);
            write_runs(d, columns + i, type[columns[i].kind], dataset[i], rows);
        }
    comm_sum_i64_all(d->store->comm, SCOPE_WORLD, sums, COLUMNS);
    for (int i = 0; i < COLUMNS; i++)
        if (wanted(rows, i))
            h5_set_u64(&d->h, dataset[i], "checksum", (uint64_t)sums[i]);
    return draft_agree_all(d, 0, f);
}

size_t columns_bytes(const struct rows *rows)
{
    size_t sum = 0;

    for (int i = 0; i < COLUMNS; i++)
        if (wanted(rows, i))
            sum +=
                width_of(columns[i].kind) * (size_t)rows->part[columns[i].items].total;
    return sum;
}
