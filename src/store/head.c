/* head.c - a checkpoint without its big arrays: numbers, identity, small columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "dapo/model.h"
#include "store/rundir.h"

const char *const head_big[BIG] = {"/params", "/moment1", "/moment2", "/previous"};
const char *const head_sums[BIG] = {"/checksums/params", "/checksums/moment1",
                                    "/checksums/moment2", "/checksums/previous"};

#define NAME_BYTES sizeof((struct model_tensor *)0)->name
#define MOST_SMALL (INT64_C(1) << 24) /* items; more is not ours */

/* The small columns, in the order of the checksum. */
enum { STATE, CONFIG, NAME, ROWS, COLS, VECTOR, FIRST, SMALL };
static const struct small_column {
    const char *name;
    char kind; /* d double, c byte, s name, i int64 */
    size_t width;
    size_t count; /* offset in struct head of its number of items */
} small_columns[SMALL] = {
    [STATE] = {"/state", 'd', 8, offsetof(struct head, n_state)},
    [CONFIG] = {"/config", 'c', 1, offsetof(struct head, n_config)},
    [NAME] = {"/tensors/name", 's', NAME_BYTES, offsetof(struct head, n_tensors)},
    [ROWS] = {"/tensors/rows", 'i', 8, offsetof(struct head, n_tensors)},
    [COLS] = {"/tensors/cols", 'i', 8, offsetof(struct head, n_tensors)},
    [VECTOR] = {"/tensors/vector", 'i', 8, offsetof(struct head, n_tensors)},
    [FIRST] = {"/tensors/first", 'i', 8, offsetof(struct head, n_tensors)},
};

struct small {
    void *data[SMALL];
    hid_t column[SMALL], type[SMALL];
};

static int64_t count_of(const struct head *head, int i)
{
    return *(const int64_t *)((const char *)head + small_columns[i].count);
}

static hid_t type_of(struct h5 *h, int i)
{
    switch (small_columns[i].kind) {
    case 'd':
        return H5T_NATIVE_DOUBLE;
    case 'c':
        return H5T_NATIVE_UINT8;
    case 's':
        return h5_text_type(h, small_columns[i].width);
    default:
        return H5T_NATIVE_INT64;
    }
}

int head_arrays(const struct head *head)
{
    return head->previous >= 0 ? BIG : BIG - 1;
}

int64_t head_pieces(const struct head *head)
{
    return head->n_params / head->piece + (head->n_params % head->piece != 0);
}

int64_t head_share(const struct head *head, int r, int ranks, int64_t *first)
{
    int64_t pieces = head_pieces(head), each = pieces / ranks, more = pieces % ranks;
    int64_t begin = r * each + (r < more ? r : more), end = begin + each + (r < more);

    *first = begin == pieces ? head->n_params : begin * head->piece;
    return end == pieces ? head->n_params : end * head->piece;
}

int64_t head_read_pieces(struct h5 *h, hid_t column, const struct head *head,
                         int64_t first, int64_t end, const uint64_t *sums, float *x,
                         bool whole)
{
    int64_t i = first, values;

    for (int64_t n = 0; i < end; i += values, n++) {
        float *to = whole ? x + i : x;

        values = end - i < head->piece ? end - i : head->piece;
        h5_read(h, column, H5T_NATIVE_FLOAT, (hsize_t)i, (hsize_t)values, to);
        if (h->bad || piece_sum(to, values, i / head->piece) != sums[n])
            return i;
    }
    return end;
}

/* Over all that head_read reads, in a form without padding. */
static uint64_t head_sum(const struct head *head, void *const data[])
{
    const struct identity *id = &head->id;
    int64_t number[] = {head->step,    head->updates,  head->cursor,
                        head->serial,  head->piece,    head->n_params,
                        head->n_state, head->n_config, head->n_tensors};
    uint64_t sum = hash64(number, sizeof number, 0);

    _Static_assert(sizeof *id == 33 * 4 + 32 + 64, "identity has no padding");
    sum = hash64(id, sizeof *id, sum);
    if (head->previous >= 0)
        sum = hash64(&head->previous, sizeof head->previous, sum);
    for (int i = 0; i < SMALL; i++)
        sum = hash64(data[i], (size_t)count_of(head, i) * small_columns[i].width, sum);
    return sum;
}

/* -- writing -------------------------------------------------------------------------
 */
static void fill_tensors(struct small *s, const struct checkpoint *k)
{
    char(*name)[NAME_BYTES] = s->data[NAME];
    int64_t *rows = s->data[ROWS], *cols = s->data[COLS], *first = s->data[FIRST];
    int64_t *vector = s->data[VECTOR];

    for (int i = 0; i < k->n_tensors; i++) {
        const struct model_tensor *t = k->tensors + i;

        snprintf(name[i], sizeof name[i], "%s", t->name);
        rows[i] = t->rows;
        cols[i] = t->cols;
        vector[i] = t->vector;
        first[i] = (int64_t)t->first;
    }
}

int head_columns_new(struct small **out, const struct head *head,
                     const struct checkpoint *k, struct fault *f)
{
    struct small *s = mem_new(1, sizeof *s, "a checkpoint's head", f);

    *out = s;
    if (!s)
        return f->code;
    for (int i = 0; i < SMALL; i++) {
        s->data[i] = mem_new(k ? (size_t)count_of(head, i) : 0, small_columns[i].width,
                             "a checkpoint's head", f);
        if (!s->data[i])
            return f->code;
    }
    if (!k)
        return 0;
    if (k->n_state)
        memcpy(s->data[STATE], k->state, (size_t)k->n_state * sizeof *k->state);
    if (head->n_config)
        memcpy(s->data[CONFIG], k->config, (size_t)head->n_config);
    fill_tensors(s, k);
    return 0;
}

void head_columns_free(struct small *s)
{
    for (int i = 0; s && i < SMALL; i++)
        free(s->data[i]);
    free(s);
}

void head_create(struct draft *d, const struct head *head, struct small *s)
{
    struct h5 *h = &d->h;

    write_identity(h, d->file, "checkpoint", &head->id);
    h5_set_i64(h, d->file, "step", head->step);
    h5_set_i64(h, d->file, "updates", head->updates);
    h5_set_i64(h, d->file, "cursor", head->cursor);
    if (head->previous >= 0)
        h5_set_i64(h, d->file, "previous_updates", head->previous);
    h5_set_i64(h, d->file, "serial", head->serial);
    h5_set_i64(h, d->file, "checksum_values", head->piece);
    h5_group(h, d->file, "/tensors");
    for (int i = 0; i < SMALL; i++) {
        s->type[i] = type_of(h, i);
        s->column[i] = h5_column(h, d->file, small_columns[i].name, s->type[i],
                                 (hsize_t)count_of(head, i));
    }
}

void head_write_all(struct draft *d, const struct head *head, const struct small *s)
{
    struct comm *c = d->store->comm;
    bool root = comm_rank(c) == 0;
    uint64_t sum = root ? head_sum(head, s->data) : 0;

    comm_bcast_all(c, d->scope, &sum, sizeof sum);
    h5_set_u64(&d->h, d->file, "head_checksum", sum);
    for (int i = 0; i < SMALL; i++)
        h5_write(&d->h, s->column[i], s->type[i], 0,
                 root ? (hsize_t)count_of(head, i) : 0, s->data[i]);
}

/* -- reading -------------------------------------------------------------------------
 */
static void read_numbers(struct h5 *h, hid_t file, struct head *out)
{
    read_identity(h, file, "checkpoint", &out->id);
    out->step = h5_get_i64(h, file, "step");
    out->updates = h5_get_i64(h, file, "updates");
    out->cursor = h5_get_i64(h, file, "cursor");
    out->previous = -1;
    if (!h->bad && H5Aexists(file, "previous_updates") > 0) {
        out->previous = h5_get_i64(h, file, "previous_updates");
        if (!h->bad && (out->previous < 0 || out->previous > out->updates))
            h5_fail(h, "a number of its head is out of range");
    }
    out->serial = h5_get_i64(h, file, "serial");
    out->piece = h5_get_i64(h, file, "checksum_values");
    if (!h->bad && (out->step < 0 || out->updates < 0 || out->cursor < 0 ||
                    out->serial < 0 || out->piece < 1))
        h5_fail(h, "a number of its head is out of range");
}

/* The big arrays and their checksums are there and have the same lengths. */
static void look_at_big(struct h5 *h, hid_t file, struct head *out)
{
    for (int i = 0; i < head_arrays(out); i++) {
        int mark = h->n;
        hsize_t n, sums;

        h5_open_column(h, file, head_big[i], H5T_NATIVE_FLOAT, &n);
        h5_open_column(h, file, head_sums[i], H5T_NATIVE_UINT64, &sums);
        h5_drop(h, mark);
        if (i == 0)
            out->n_params = (int64_t)n;
        if (!h->bad &&
            (n != (hsize_t)out->n_params || sums != (hsize_t)head_pieces(out)))
            h5_fail(h, "its arrays disagree in length");
    }
}

static void read_small(struct h5 *h, hid_t file, struct head *out, void **data)
{
    for (int i = 0; i < SMALL && !h->bad; i++) {
        int64_t *count = (int64_t *)((char *)out + small_columns[i].count);
        struct fault why = FAULT_INIT;
        int mark = h->n;
        hsize_t n;
        hid_t type = type_of(h, i);
        hid_t column = h5_open_column(h, file, small_columns[i].name, type, &n);

        if (n > MOST_SMALL || (i > NAME && (int64_t)n != *count))
            h5_fail(h, "a column of its head has an impossible length");
        *count = (int64_t)n;
        if (!h->bad)
            data[i] = mem_new((size_t)n + 1, small_columns[i].width, "a head", &why);
        if (!h->bad && !data[i]) {
            h->code = why.code; /* not the file's fault */
            h5_fail(h, why.text);
        }
        if (!h->bad)
            h5_read(h, column, type, 0, n, data[i]);
        h5_drop(h, mark);
    }
}

static void read_head(struct h5 *h, hid_t file, struct head *out, void **data)
{
    uint64_t sum;

    read_numbers(h, file, out);
    if (!h->bad)
        look_at_big(h, file, out);
    if (!h->bad)
        read_small(h, file, out, data);
    sum = h5_get_u64(h, file, "head_checksum");
    if (!h->bad && sum != head_sum(out, data))
        h5_fail(h, "its head is damaged (checksum)");
}

int head_read(struct head *out, const char *path, struct head_data *keep,
              struct fault *f)
{
    struct h5 h;
    hid_t file;
    void *data[SMALL] = {0};
    int rc = h5_open_file(&h, &file, path, f);

    *out = (struct head){0};
    if (keep)
        *keep = (struct head_data){0};
    if (rc)
        return rc;
    read_head(&h, file, out, data);
    rc = h5_end(&h, path, f);
    if (!rc && keep) {
        *keep = (struct head_data){.state = data[STATE], .config = data[CONFIG]};
        data[STATE] = data[CONFIG] = NULL;
    }
    for (int i = 0; i < SMALL; i++)
        free(data[i]);
    return rc;
}

void head_data_free(struct head_data *d)
{
    free(d->state);
    free(d->config);
    *d = (struct head_data){0};
}
