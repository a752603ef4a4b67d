/* verify.c - a whole file read back and held against what it says of itself. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#define MOST_ROWS (INT64_C(1) << 31) /* of a step file; more is not ours */

/* -- a step file ------------------------------------------------------------------- */

/* The small columns that its sums are made of, in the order they are read. */
enum {
    INDEX,
    FATES,
    CORRECT,
    TOKENS_OF, /* per candidate */
    CANDIDATE,
    MEMBER,
    LENGTH,
    FINISH,
    RIGHT, /* per completion */
    TOKEN_AT,
    ANSWER_AT, /* one more than completions */
    COLUMNS
};
static const struct {
    const char *name;
    bool of_candidates;
    int more;
} column[COLUMNS] = {
    [INDEX] = {"/candidates/index", true, 0},
    [FATES] = {"/candidates/fate", true, 0},
    [CORRECT] = {"/candidates/n_correct", true, 0},
    [TOKENS_OF] = {"/candidates/n_tokens", true, 0},
    [CANDIDATE] = {"/completions/candidate", false, 0},
    [MEMBER] = {"/completions/member", false, 0},
    [LENGTH] = {"/completions/n_tokens", false, 0},
    [FINISH] = {"/completions/finish_reason", false, 0},
    [RIGHT] = {"/completions/correct", false, 0},
    [TOKEN_AT] = {"/tokens/completion_offset", false, 1},
    [ANSWER_AT] = {"/answers/completion_offset", false, 1},
};

struct step_rows {
    int64_t candidates, completions, tokens, answers;
    int64_t *x[COLUMNS];
};

static bool all_finite(const float *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* All of the big columns: that they can be read, ids and log-probs of possible values.
 */
static void read_tokens(struct h5 *h, hid_t file, struct step_rows *r, struct fault *f)
{
    int mark = h->n;
    hsize_t n, n_logprobs, n_bytes;
    hid_t ids = h5_open_column(h, file, "/tokens/ids", H5T_NATIVE_INT32, &n);
    hid_t logprobs =
        h5_open_column(h, file, "/tokens/logprobs", H5T_NATIVE_FLOAT, &n_logprobs);
    int32_t *id;
    float *logprob;

    h5_open_column(h, file, "/answers/bytes", H5T_NATIVE_UINT8, &n_bytes);
    if (!h->bad && n != n_logprobs)
        h5_fail(h, "holds another number of ids than of log-probs");
    if (h->bad)
        return;
    r->tokens = (int64_t)n;
    r->answers = (int64_t)n_bytes;
    id = mem_new(n, sizeof *id, "a step's tokens", f);
    logprob = mem_new(n, sizeof *logprob, "a step's tokens", f);
    if (id && logprob) {
        h5_read(h, ids, H5T_NATIVE_INT32, 0, n, id);
        h5_read(h, logprobs, H5T_NATIVE_FLOAT, 0, n, logprob);
        for (hsize_t i = 0; !h->bad && i < n; i++)
            if (id[i] < 0)
                h5_fail(h, "holds a token id below 0");
        if (!h->bad && !all_finite(logprob, n))
            h5_fail(h, "holds a log-prob that is not finite");
    }
    free(id);
    free(logprob);
    h5_drop(h, mark);
}

static bool ascends(const int64_t *x, int64_t n, int64_t end)
{
    for (int64_t i = 0; i < n; i++)
        if (x[i + 1] < x[i])
            return false;
    return x[0] == 0 && x[n] == end;
}

/* Completions [at, at + size) are those of candidate c: their sums are its numbers. */
static const char *check_candidate(const struct step_rows *r, int64_t c, int64_t at,
                                   int64_t size)
{
    int64_t tokens = 0, right = 0;

    for (int64_t k = at; k < at + size; k++) {
        if (r->x[CANDIDATE][k] != r->x[INDEX][c] || r->x[MEMBER][k] != k - at)
            return "the completions don't follow the candidates";
        if (r->x[FINISH][k] < 0 || r->x[FINISH][k] >= FINISH_COUNT)
            return "a completion has an unknown finish reason";
        if (r->x[LENGTH][k] != r->x[TOKEN_AT][k + 1] - r->x[TOKEN_AT][k])
            return "a completion's length is not that of its tokens";
        tokens += r->x[LENGTH][k];
        right += r->x[RIGHT][k];
    }
    if (tokens != r->x[TOKENS_OF][c] || right != r->x[CORRECT][c])
        return "a candidate's numbers are not those of its completions";
    return NULL;
}

/* What is wrong with the rows; NULL if nothing.  Invariants 1, 8 and 9. */
static const char *check_rows(const struct step_rows *r, const int64_t bill[FATE_COUNT])
{
    int64_t size = r->candidates ? r->completions / r->candidates : 0;
    int64_t sum[FATE_COUNT] = {0};

    if (size * r->candidates != r->completions)
        return "the candidates are not all of one size";
    if (!ascends(r->x[TOKEN_AT], r->completions, r->tokens) ||
        !ascends(r->x[ANSWER_AT], r->completions, r->answers))
        return "the offsets of its completions don't fit its tokens or answers";
    for (int64_t c = 0; c < r->candidates; c++) {
        const char *why = check_candidate(r, c, c * size, size);
        int64_t fate = r->x[FATES][c];

        if (why)
            return why;
        if (fate < 0 || fate >= FATE_COUNT)
            return "a candidate has an unknown fate";
        if (c && r->x[INDEX][c] <= r->x[INDEX][c - 1])
            return "the candidates are not in order";
        sum[fate] += r->x[TOKENS_OF][c];
    }
    for (int i = 0; i < FATE_COUNT; i++)
        if (sum[i] != bill[i])
            return "the ledger is not the sum of its rows";
    return NULL;
}

static void read_rows(struct h5 *h, hid_t file, struct step_rows *r, struct fault *f)
{
    for (int i = 0; i < COLUMNS && !h->bad && !f->code; i++) {
        int64_t want = column[i].of_candidates ? r->candidates : r->completions;

        r->x[i] = h5_read_i64(h, file, column[i].name, want + column[i].more, f);
    }
    if (!h->bad && !f->code)
        read_tokens(h, file, r, f);
}

/* -- checksums --------------------------------------------------------------------- */

struct sums {
    struct h5 *h;
    const struct step_rows *rows;
    const char *group; /* the table */
    struct fault *f;
};

/* The sum as columns.c makes it, over completions' chunks or all at once. */
static uint64_t sum_column(const struct sums *s, const char *name, const char *data,
                           size_t width, hsize_t n)
{
    const int64_t *at = !strcmp(name, "completion_offset") ? NULL
                        : !strcmp(s->group, "/tokens")     ? s->rows->x[TOKEN_AT]
                        : !strcmp(s->group, "/answers")    ? s->rows->x[ANSWER_AT]
                                                           : NULL;
    uint64_t sum = 0;

    if (!at)
        return chunk_sum(data, n * width, 0);
    for (int64_t k = 0; k < s->rows->completions; k++)
        sum += chunk_sum(data + (size_t)at[k] * width,
                         (size_t)(at[k + 1] - at[k]) * width, at[k]);
    return sum;
}

/* H5Literate calls this for each column of a table.  Files of before there were
 * checksums have none to compare with. */
static herr_t check_column(hid_t group, const char *name, const H5L_info_t *link,
                           void *context)
{
    struct sums *s = context;
    struct h5 *h = s->h;
    int mark = h->n;
    hid_t dataset = link->type == H5L_TYPE_HARD
                        ? h5_keep(h, H5Dopen2(group, name, H5P_DEFAULT))
                        : H5I_INVALID_HID;
    hid_t type;
    uint64_t want;
    hsize_t n;
    char *data;

    if (h->bad || dataset < 0 || H5Aexists(dataset, "checksum") <= 0)
        return h->bad ? -1 : 0;
    want = h5_get_u64(h, dataset, "checksum");
    type = h5_keep(h, H5Dget_type(dataset));
    dataset = h5_open_column(h, group, name, type, &n);
    data = h->bad ? NULL : mem_new(n + 1, H5Tget_size(type), "a step's column", s->f);
    if (data) {
        h5_read(h, dataset, type, 0, n, data);
        if (!h->bad && sum_column(s, name, data, H5Tget_size(type), n) != want) {
            char why[96];

            snprintf(why, sizeof why, "%s/%.40s is damaged (checksum)", s->group + 1,
                     name);
            h5_fail(h, why);
        }
    }
    free(data);
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
    const char *why = NULL;
    struct h5 h;
    hid_t file;
    int rc = inspect_step(&s, path, f);

    if (rc)
        return rc;
    r.candidates = s.candidates;
    r.completions = s.completions;
    rc = h5_open_file(&h, &file, path, f);
    if (!rc) {
        if (r.candidates > MOST_ROWS || r.completions > MOST_ROWS)
            h5_fail(&h, "has an impossible number of rows");
        read_rows(&h, file, &r, &memory);
        if (!h.bad && !memory.code)
            why = check_rows(&r, s.ledger_tokens);
        if (why)
            h5_fail(&h, why);
        if (!h.bad && !memory.code)
            check_sums(&h, file, &r, &memory);
        rc = h5_end(&h, path, f);
    }
    if (memory.code) {
        *f = memory;
        rc = f->code;
    }
    for (int i = 0; i < COLUMNS; i++)
        free(r.x[i]);
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

    if (sum)
        h5_read(h, sums, H5T_NATIVE_UINT64, 0, n_sums, sum);
    for (hsize_t p = 0, i = 0; sum && i < n && !h->bad; p++) {
        hsize_t part = n - i < (hsize_t)head->piece ? n - i : (hsize_t)head->piece;

        h5_read(h, values, H5T_NATIVE_FLOAT, i, part, piece);
        if (!h->bad && piece_sum(piece, (int64_t)part, (int64_t)p) != sum[p]) {
            char why[64];

            snprintf(why, sizeof why, "%s is damaged (checksum)", head_big[which] + 1);
            h5_fail(h, why);
        }
        i += part;
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
