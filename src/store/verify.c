/* verify.c - a whole file read back and held against what it says of itself. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "store/rundir.h"

/* -- a step file ------------------------------------------------------------------- */

struct step_rows {
    struct inspect_rows small; /* checked against each other as they are read */
    int64_t completions;
    int64_t *member;               /* [completions] */
    int64_t *token_at, *answer_at; /* [completions + 1] offsets */
};

static bool ascends(const int64_t *x, int64_t n, int64_t end)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i + 1] < x[i])
            return false;
    return x[0] == 0 && x[n] == end;
}

static const char *check_completions(const struct step_rows *r)
{
    for (int64_t k = 0; k < r->completions; k++) {
        if (r->member[k] != k % r->small.size)
            return "the completions don't follow the candidates";
        if (r->small.length[k] != r->token_at[k + 1] - r->token_at[k])
            return "a completion's length is not that of its tokens";
    }
    return NULL;
}

/* Invariants 1 and 8: what the candidates sum up to is the bill. */
static const char *check_ledger(const struct inspect_rows *r,
                                const int64_t bill[FATE_COUNT])
{
    int64_t sum[FATE_COUNT] = {0};

    for (int64_t c = 0; c < r->candidates; c++) {
        if (c && r->index[c] <= r->index[c - 1])
            return "the candidates are not in order";
        sum[r->fate[c]] += r->n_tokens[c];
    }
    for (int i = 0; i < FATE_COUNT; i++)
        if (sum[i] != bill[i])
            return "the ledger is not the sum of its rows";
    return NULL;
}

static void check_rows(struct h5 *h, hid_t file, struct step_rows *r,
                       const int64_t bill[FATE_COUNT], struct fault *f)
{
    int64_t tokens = h5_items(h, file, "/tokens/ids", H5T_NATIVE_INT32);
    int64_t logprobs = h5_items(h, file, "/tokens/logprobs", H5T_NATIVE_FLOAT);
    int64_t answers = h5_items(h, file, "/answers/bytes", H5T_NATIVE_UINT8);
    const char *why;

    r->member = h5_read_i64(h, file, "/completions/member", r->completions, f);
    r->token_at =
        h5_read_i64(h, file, "/tokens/completion_offset", r->completions + 1, f);
    r->answer_at =
        h5_read_i64(h, file, "/answers/completion_offset", r->completions + 1, f);
    if (h->bad || f->code)
        return;
    if (tokens != logprobs)
        why = "holds another number of ids than of log-probs";
    else if (!ascends(r->token_at, r->completions, tokens) ||
             !ascends(r->answer_at, r->completions, answers))
        why = "the offsets of its completions don't fit its tokens or answers";
    else
        why = check_completions(r);
    if (!why)
        why = check_ledger(&r->small, bill);
    if (why)
        h5_fail(h, why);
}

/* -- values and checksums ---------------------------------------------------------- */

struct sums {
    struct h5 *h;
    const struct step_rows *rows;
    const char *group; /* the table */
    struct fault *f;
};

/* Where the chunks of a table's column begin, one a completion; NULL: it is one chunk.
 */
static const int64_t *chunks(const struct sums *s, const char *name)
{
    if (!strcmp(name, "completion_offset"))
        return NULL;
    if (!strcmp(s->group, "/tokens"))
        return s->rows->token_at;
    return !strcmp(s->group, "/answers") ? s->rows->answer_at : NULL;
}

/* The sum as columns.c makes it. */
static uint64_t sum_chunks(const int64_t *at, int64_t chunks, const char *data,
                           size_t width, hsize_t n)
{
    uint64_t sum = 0;

    if (!at)
        return chunk_sum(data, n * width, 0);
    for (int64_t k = 0; k < chunks; k++)
        sum += chunk_sum(data + (size_t)at[k] * width,
                         (size_t)(at[k + 1] - at[k]) * width, at[k]);
    return sum;
}

static void check_tokens(struct h5 *h, const char *name, const void *data, hsize_t n)
{
    bool ids = !strcmp(name, "ids"), logprobs = !strcmp(name, "logprobs");

    for (hsize_t i = 0; i < n; i++) {
        if (ids && ((const int32_t *)data)[i] < 0)
            h5_fail(h, "holds a token id below 0");
        if (logprobs && !isfinite(((const float *)data)[i]))
            h5_fail(h, "holds a log-prob that is not finite");
    }
}

/* A column's bytes against its checksum; files of before there were any have none. */
static void check_data(const struct sums *s, const char *name, hid_t dataset,
                       hid_t type)
{
    const int64_t *at = chunks(s, name);
    size_t width = H5Tget_size(type);
    struct h5 *h = s->h;
    bool summed = H5Aexists(dataset, "checksum") > 0;
    uint64_t want = summed ? h5_get_u64(h, dataset, "checksum") : 0;
    char why[96], *data;
    hsize_t n;

    dataset = h5_open_column(h, dataset, ".", type, &n);
    if (!h->bad && at && at[s->rows->completions] != (int64_t)n)
        h5_fail(h, "its columns disagree in length");
    data = h->bad ? NULL : mem_new(n + 1, width, "a step's column", s->f);
    if (data)
        h5_read(h, dataset, type, 0, n, data);
    if (data && !h->bad && !strcmp(s->group, "/tokens"))
        check_tokens(h, name, data, n);
    if (data && summed && !h->bad &&
        sum_chunks(at, s->rows->completions, data, width, n) != want) {
        snprintf(why, sizeof why, "%s/%.40s is damaged (checksum)", s->group + 1, name);
        h5_fail(h, why);
    }
    free(data);
}

/* H5Literate calls this for each link of a table. */
static herr_t check_column(hid_t group, const char *name, const H5L_info_t *link,
                           void *context)
{
    struct sums *s = context;
    struct h5 *h = s->h;
    int mark = h->n;
    hid_t dataset;

    if (link->type != H5L_TYPE_HARD)
        return 0;
    dataset = h5_keep(h, H5Dopen2(group, name, H5P_DEFAULT));
    if (!h->bad)
        check_data(s, name, dataset, h5_keep(h, H5Dget_type(dataset)));
    h5_drop(h, mark);
    return h->bad || s->f->code ? -1 : 0;
}

static void check_sums(struct h5 *h, hid_t file, const struct step_rows *r,
                       struct fault *f)
{
    static const char *const tables[] = {"/candidates", "/completions", "/tokens",
                                         "/answers"};
    struct sums s = {.h = h, .rows = r, .f = f};

    for (size_t i = 0; i < sizeof tables / sizeof tables[0] && !h->bad; i++) {
        int mark = h->n;
        hid_t group = h5_keep(h, H5Gopen2(file, tables[i], H5P_DEFAULT));

        s.group = tables[i];
        if (!h->bad)
            h5_check(h, H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, NULL,
                                   check_column, &s));
        h5_drop(h, mark);
    }
}

int inspect_check_step(const char *path, struct fault *f)
{
    struct inspect_step s;
    struct step_rows r = {0};
    struct fault memory = FAULT_INIT;
    struct h5 h;
    hid_t file;
    int rc = inspect_step(&s, path, f);

    if (rc)
        return rc;
    r.completions = s.completions;
    rc = named_for(path, s.step, f);
    if (!rc)
        rc = inspect_rows(&r.small, path, f);
    if (!rc && !(rc = h5_open_file(&h, &file, path, f))) {
        check_rows(&h, file, &r, s.ledger_tokens, &memory);
        if (!h.bad && !memory.code)
            check_sums(&h, file, &r, &memory);
        rc = h5_end(&h, path, f);
    }
    if (memory.code) {
        *f = memory;
        rc = f->code;
    }
    inspect_rows_free(&r.small);
    free(r.member);
    free(r.token_at);
    free(r.answer_at);
    inspect_step_free(&s);
    return rc;
}

/* -- a checkpoint ------------------------------------------------------------------ */

/* Every piece of a big array against its checksum. */
static void check_array(struct h5 *h, hid_t file, const struct head *head, int which,
                        float *piece, struct fault *f)
{
    int mark = h->n;
    hsize_t n, n_sums;
    hid_t values = h5_open_column(h, file, head_big[which], H5T_NATIVE_FLOAT, &n);
    hid_t sums = h5_open_column(h, file, head_sums[which], H5T_NATIVE_UINT64, &n_sums);
    uint64_t *sum = h->bad ? NULL : mem_new(n_sums, sizeof *sum, "checksums", f);
    char why[64];

    if (sum)
        h5_read(h, sums, H5T_NATIVE_UINT64, 0, n_sums, sum);
    if (sum && !h->bad &&
        head_read_pieces(h, values, head, 0, (int64_t)n, sum, piece, false) <
            (int64_t)n) {
        snprintf(why, sizeof why, "%s is damaged (checksum)", head_big[which] + 1);
        h5_fail(h, why);
    }
    free(sum);
    h5_drop(h, mark);
}

int inspect_check_checkpoint(const char *path, struct fault *f)
{
    struct inspect_checkpoint k;
    struct fault memory = FAULT_INIT;
    struct head head;
    int64_t parcels;
    float *piece = NULL;
    struct h5 h;
    hid_t file;
    int rc = inspect_checkpoint(&k, path, f);

    if (rc)
        return rc;
    inspect_checkpoint_free(&k);
    rc = head_read(&head, path, NULL, f);
    if (!rc)
        rc = named_for(path, head.step, f);
    if (!rc) {
        int64_t most = head.piece < head.n_params ? head.piece : head.n_params;

        piece = mem_new((size_t)most, sizeof *piece, "a checkpoint's piece", f);
        rc = piece ? h5_open_file(&h, &file, path, f) : f->code;
    }
    if (!rc) {
        for (int i = 0; i < head_arrays(&head) && !h.bad && !memory.code; i++)
            check_array(&h, file, &head, i, piece, &memory);
        rc = h5_end(&h, path, f);
        if (memory.code) {
            *f = memory;
            rc = f->code;
        }
    }
    if (!rc)
        rc = parcels_read(path, NULL, 0, &parcels, f);
    free(piece);
    return rc;
}
