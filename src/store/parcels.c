/* parcels.c - bytes that ranks bring for a checkpoint, each under a checksum. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/mem.h"
#include "store/rundir.h"

#define BYTES "/parcels/bytes"
#define OFFSET "/parcels/offset"
#define CHECKSUM "/parcels/checksum"
#define MOST_PARCEL (INT64_C(1) << 30) /* bytes: of one write */
#define MOST_PARCELS (INT64_C(1) << 32)

static uint64_t sum_of(const struct parcel *p)
{
    return hash64(p->data, p->n, (unsigned long long)p->number);
}

static int check_own(const struct parcel *p, int n, int64_t total, struct fault *f)
{
    for (int i = 0; i < n; i++)
        if (p[i].number < 0 || p[i].number >= total || p[i].n > (size_t)MOST_PARCEL ||
            (p[i].n && !p[i].data))
            return fault_set(f, FAULT_BUG,
                             "parcel %" PRId64 " of %" PRId64
                             " (%zu bytes) can't be written",
                             p[i].number, total, p[i].n);
    return 0;
}

/* Sizes of all parcels, from whoever brings them. */
static int share_sizes_all(struct parcels *out, struct comm *c, int64_t *size,
                           struct fault *f)
{
    int64_t total = out->n;

    for (int i = 0; i < out->n_mine; i++) {
        size[out->mine[i].number] += (int64_t)out->mine[i].n;
        size[total + out->mine[i].number]++;
    }
    comm_sum_i64_all(c, SCOPE_WORLD, size, 2 * (size_t)total);
    for (int64_t i = 0; i < total; i++) {
        out->offset[i + 1] = out->offset[i] + size[i];
        if (size[total + i] != 1)
            return fault_set(f, FAULT_BUG,
                             "parcel %" PRId64 " is brought %" PRId64 " times", i,
                             size[total + i]);
    }
    return 0;
}

int parcels_layout_all(struct parcels *out, struct comm *c, const struct checkpoint *k,
                       int rc, struct fault *f)
{
    int64_t *size = NULL, count[] = {k->n_parcels, comm_learns(c) ? 0 : k->n_parcels};

    *out = (struct parcels){.mine = k->parcels, .n_mine = k->n_parcels};
    comm_sum_i64_all(c, SCOPE_WORLD, count, 2);
    out->n = count[0];
    out->learners = count[1] == 0;
    if (!rc) {
        out->offset = mem_new((size_t)out->n + 1, sizeof(int64_t), "parcels", f);
        size = mem_new(2 * (size_t)out->n, sizeof *size, "parcels", f);
        rc = out->offset && size ? check_own(k->parcels, k->n_parcels, out->n, f)
                                 : f->code;
    }
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = share_sizes_all(out, c, size, f);
    free(size);
    return rc;
}

void parcels_free_layout(struct parcels *p)
{
    free(p->offset);
    *p = (struct parcels){0};
}

void parcels_create(struct draft *d, struct parcels *p)
{
    struct h5 *h = &d->h;

    if (p->n == 0)
        return;
    h5_group(h, d->file, "/parcels");
    p->column[0] =
        h5_column(h, d->file, BYTES, H5T_NATIVE_UINT8, (hsize_t)p->offset[p->n]);
    p->column[1] = h5_column(h, d->file, OFFSET, H5T_NATIVE_INT64, (hsize_t)p->n + 1);
    p->column[2] = h5_column(h, d->file, CHECKSUM, H5T_NATIVE_UINT64, (hsize_t)p->n);
}

void parcels_write(struct draft *d, const struct parcels *p)
{
    struct h5 *h = &d->h;

    if (p->n == 0)
        return;
    if (comm_rank(d->store->comm) == 0)
        h5_write(h, p->column[1], H5T_NATIVE_INT64, 0, (hsize_t)p->n + 1, p->offset);
    for (int i = 0; i < p->n_mine; i++) {
        const struct parcel *own = &p->mine[i];
        uint64_t sum = sum_of(own);

        h5_write(h, p->column[0], H5T_NATIVE_UINT8, (hsize_t)p->offset[own->number],
                 own->n, own->data);
        h5_write(h, p->column[2], H5T_NATIVE_UINT64, (hsize_t)own->number, 1, &sum);
    }
}

/* -- reading ----------------------------------------------------------------------- */

/* The columns of an open file; column[0] = -1 if it has no parcels. */
struct shelf {
    hid_t bytes, checksum;
    int64_t n, *offset;
};

static void open_shelf(struct h5 *h, hid_t file, struct shelf *s, struct fault *f)
{
    hsize_t total, n;

    *s = (struct shelf){0};
    if (h->bad || H5Lexists(file, "/parcels", H5P_DEFAULT) <= 0)
        return;
    s->bytes = h5_open_column(h, file, BYTES, H5T_NATIVE_UINT8, &total);
    s->checksum = h5_open_column(h, file, CHECKSUM, H5T_NATIVE_UINT64, &n);
    if (!h->bad && (int64_t)n > MOST_PARCELS)
        h5_fail(h, "has an impossible number of parcels");
    if (!h->bad)
        s->offset = h5_read_i64(h, file, OFFSET, (int64_t)n + 1, f);
    if (h->bad || f->code)
        return;
    s->n = (int64_t)n;
    for (int64_t i = 0; i < s->n; i++)
        if (s->offset[i + 1] < s->offset[i] ||
            s->offset[i + 1] - s->offset[i] > MOST_PARCEL)
            h5_fail(h, "the offsets of its parcels make no sense");
    if (s->offset[0] != 0 || s->offset[s->n] != (int64_t)total)
        h5_fail(h, "the offsets of its parcels make no sense");
}

static void read_one(struct h5 *h, const struct shelf *s, struct parcel *p,
                     struct fault *f)
{
    uint64_t sum = 0;

    if (p->number < 0 || p->number >= s->n) {
        h5_fail(h, "lacks a parcel");
        return;
    }
    p->n = (size_t)(s->offset[p->number + 1] - s->offset[p->number]);
    p->data = mem_new(p->n, 1, "a parcel", f);
    if (!p->data)
        return;
    h5_read(h, s->bytes, H5T_NATIVE_UINT8, (hsize_t)s->offset[p->number], p->n,
            p->data);
    h5_read(h, s->checksum, H5T_NATIVE_UINT64, (hsize_t)p->number, 1, &sum);
    if (!h->bad && sum != sum_of(p))
        h5_fail(h, "a parcel is damaged (checksum); take an earlier checkpoint");
}

int parcels_read(const char *path, struct parcel *want, int n, int64_t *total,
                 struct fault *f)
{
    struct fault memory = FAULT_INIT;
    struct shelf s;
    struct h5 h;
    hid_t file;
    int rc = h5_open_file(&h, &file, path, f);

    *total = 0;
    if (rc)
        return rc;
    open_shelf(&h, file, &s, &memory);
    *total = s.n;
    for (int64_t i = 0; i < (want ? n : s.n) && !h.bad && !memory.code; i++) {
        struct parcel each = {.number = i};

        read_one(&h, &s, want ? &want[i] : &each, &memory);
        if (!want)
            free(each.data);
    }
    free(s.offset);
    rc = h5_end(&h, path, f);
    if (memory.code) {
        *f = memory;
        rc = f->code;
    }
    return rc;
}

int store_parcels_all(struct store *s, int64_t step, struct parcel *want, int n,
                      int64_t *total, struct fault *f)
{
    char *path = step_path(s->checkpoints, step, f);
    int rc = path ? parcels_read(path, want, n, total, f) : f->code;

    free(path);
    return comm_agree_all(s->comm, rc, f);
}
