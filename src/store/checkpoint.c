/* checkpoint.c - weights and optimizer in slices, each piece under a checksum. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "comm/comm_mpi.h"
#include "dapo/mem.h"
#include "store/rundir.h"

/* The learners write; before the ranks have roles, rank 0 does. */
static int writers(const struct comm *c)
{
    return comm_learners(c) ? comm_learners(c) : 1;
}

static bool writes(const struct comm *c)
{
    return comm_rank(c) < writers(c);
}

/* Pieces of one array, of any rank. */
static int64_t most_pieces(const struct comm *c, const struct head *head)
{
    return head_pieces(head) / writers(c) + 1;
}

/* -- writing -------------------------------------------------------------------------
 */
/* Rank 0's numbers on every rank, checked against what each learner brings; not agreed
 * on yet. */
static int share_head_all(struct store *s, const struct checkpoint *k,
                          struct head *head, struct fault *f)
{
    struct comm *c = s->comm;

    *head = (struct head){.step = k->step,
                          .updates = k->updates,
                          .cursor = k->cursor,
                          .previous = k->previous_updates};
    head->serial = s->serial + 1;
    head->piece = s->piece;
    head->n_params = k->n_params;
    head->n_state = k->n_state;
    head->n_tensors = k->n_tensors;
    head->n_config = k->config ? (int64_t)strlen(k->config) : 0;
    identity_copy(&head->id, k->identity);
    comm_bcast_all(c, SCOPE_WORLD, head, sizeof *head);
    if (writes(c) && (!k->params || !k->moment1 || !k->moment2 ||
                      (head->previous >= 0 && !k->previous) ||
                      k->n_params != head->n_params || k->n_params < 0))
        return fault_set(f, FAULT_BUG,
                         "checkpoint %" PRId64 ": a learner brings %" PRId64
                         " parameters, the root has %" PRId64,
                         head->step, k->n_params, head->n_params);
    return 0;
}

/* What goes into a checkpoint; on rank 0 the small columns have data. */
struct content {
    const struct checkpoint *k;
    struct head head;
    struct small *small;
    struct parcels parcels;
    uint64_t *sums; /* of this rank's pieces */
};

/* Everything but the writing.  Give back with content_free, whatever it said. */
static int content_new_all(struct content *x, struct store *s,
                           const struct checkpoint *k, struct fault *f)
{
    struct comm *c = s->comm;
    int rc;

    *x = (struct content){.k = k};
    rc = share_head_all(s, k, &x->head, f);
    if (!rc)
        rc = head_columns_new(&x->small, &x->head, comm_rank(c) == 0 ? k : NULL, f);
    if (!rc) {
        x->sums = mem_new(BIG * (size_t)most_pieces(c, &x->head), sizeof *x->sums,
                          "checksums", f);
        rc = x->sums ? 0 : f->code;
    }
    return parcels_layout_all(&x->parcels, c, k, rc, f);
}

static void content_free(struct content *x)
{
    head_columns_free(x->small);
    parcels_free_layout(&x->parcels);
    free(x->sums);
}

/* Values of a column are on their way to the disk from now on, not only when the file
 * is synced: the disk works while the next piece is hashed.  A hint, that may fail. */
static void begin_sync(int fd, hid_t column, int64_t first, int64_t values)
{
    haddr_t at = H5Dget_offset(column);

    if (fd >= 0 && at != HADDR_UNDEF)
        sync_file_range(fd, (off_t)at + first * (off_t)sizeof(float),
                        values * (off_t)sizeof(float), SYNC_FILE_RANGE_WRITE);
}

/* This rank's pieces of one array, each hashed while it is on its way: into the cache
 * once.  `sums` has room for them; `fd` is the file. */
static void write_pieces(struct draft *d, const struct head *head, int fd, hid_t column,
                         hid_t column_sums, const float *x, uint64_t *sums)
{
    struct comm *c = d->store->comm;
    int64_t first, end, n = 0;

    if (!writes(c))
        return;
    end = head_share(head, comm_rank(c), writers(c), &first);
    for (int64_t i = first; i < end; i += head->piece, n++) {
        int64_t values = end - i < head->piece ? end - i : head->piece;

        sums[n] = piece_sum(x + i, values, i / head->piece);
        h5_write(&d->h, column, H5T_NATIVE_FLOAT, (hsize_t)i, (hsize_t)values, x + i);
        if (!d->h.bad)
            begin_sync(fd, column, i, values);
    }
    h5_write(&d->h, column_sums, H5T_NATIVE_UINT64,
             n ? (hsize_t)(first / head->piece) : 0, (hsize_t)n, sums);
}

static int write_all(struct draft *d, struct content *c, struct fault *f)
{
    const struct head *head = &c->head;
    const float *x[BIG] = {c->k->params, c->k->moment1, c->k->moment2, c->k->previous};
    hid_t big[BIG], sum[BIG];
    int arrays = head_arrays(head), fd, rc;

    head_create(d, head, c->small);
    parcels_create(d, &c->parcels);
    h5_group(&d->h, d->file, "/checksums");
    for (int i = 0; i < arrays; i++) {
        big[i] = h5_column(&d->h, d->file, head_big[i], H5T_NATIVE_FLOAT,
                           (hsize_t)head->n_params);
        sum[i] = h5_column(&d->h, d->file, head_sums[i], H5T_NATIVE_UINT64,
                           (hsize_t)head_pieces(head));
    }
    if ((rc = draft_agree_all(d, 0, f)))
        return rc;
    head_write_all(d, head, c->small);
    parcels_write(d, &c->parcels);
    fd = open(d->tmp, O_WRONLY | O_CLOEXEC);
    for (int i = 0; i < arrays; i++)
        write_pieces(d, head, fd, big[i], sum[i], x[i],
                     c->sums + i * most_pieces(d->store->comm, head));
    if (fd >= 0)
        close(fd);
    h5_set_i64(&d->h, d->file, "complete", 1);
    return draft_agree_all(d, 0, f);
}

/* This rank's pieces of one array, as the closed file has them. */
static void read_back(struct h5 *h, hid_t file, const struct draft *d,
                      const struct head *head, int array, const uint64_t *sums,
                      float *x)
{
    struct comm *c = d->store->comm;
    int mark = h->n;
    int64_t first, end = head_share(head, comm_rank(c), writers(c), &first);
    hsize_t items;
    hid_t column = h5_open_column(h, file, head_big[array], H5T_NATIVE_FLOAT, &items);

    if (head_read_pieces(h, column, head, first, end, sums, x, false) < end)
        h5_fail(h, "reads back otherwise than it was written; the disk or its cache is "
                   "failing");
    h5_drop(h, mark);
}

/* Before it may be the newest checkpoint: every writer reads its own pieces back, rank
 * 0 the head. */
static int verify(const struct draft *d, const struct content *k, struct fault *f)
{
    const struct head *head = &k->head;
    struct comm *c = d->store->comm;
    int64_t values = head->piece < head->n_params ? head->piece : head->n_params;
    struct head again;
    float *x;
    struct h5 h;
    hid_t file;
    int rc = comm_rank(c) == 0 ? head_read(&again, d->tmp, NULL, f) : 0;

    if (rc || !writes(c))
        return rc;
    x = mem_new((size_t)values, sizeof *x, "reading a checkpoint back", f);
    rc = x ? h5_open_file(&h, &file, d->tmp, f) : f->code;
    if (!rc) {
        for (int i = 0; i < head_arrays(head); i++)
            read_back(&h, file, d, head, i, k->sums + i * most_pieces(c, head), x);
        h.code = FAULT_FILE;
        rc = h5_end(&h, d->path, f);
    }
    free(x);
    return rc;
}

/* Readers of ours go by serial number, so it needs no sync of its own. */
int name_latest(struct store *s, int64_t step, struct fault *f)
{
    char *path = path_join(s->checkpoints, "latest", f);
    char *tmp = path_join(s->checkpoints, "latest" TMP_SUFFIX, f);
    FILE *out = path && tmp ? fopen(tmp, "w") : NULL;
    int rc = path && tmp ? 0 : f->code;
    bool bad = !out;

    if (out) {
        bad = fprintf(out, "step-%06" PRId64 ".h5\n", step) < 0;
        bad = fclose(out) || bad || rename(tmp, path);
    }
    if (!rc && bad) {
        rc =
            fault_set(f, FAULT_FILE, "%s: can't be written: %s", path, strerror(errno));
        unlink(tmp);
    }
    free(path);
    free(tmp);
    return rc;
}

/* By those who have something to write. */
static int write_file_all(struct store *s, struct content *x, enum scope scope,
                          struct fault *f)
{
    const struct head *head = &x->head;
    size_t bytes = (size_t)head->n_params * sizeof(float) * (size_t)head_arrays(head) +
                   (size_t)x->parcels.offset[x->parcels.n];
    struct draft d;
    int rc = draft_begin_all(&d, s, scope, step_path(s->checkpoints, head->step, f),
                             bytes, f);

    if (!rc)
        rc = write_all(&d, x, f);
    rc = draft_close_all(&d, rc, f);
    if (!rc && s->read_back)
        rc = draft_agree_all(&d, verify(&d, x, f), f);
    return draft_publish_all(&d, rc, f);
}

int store_checkpoint_all(struct store *s, const struct checkpoint *k, struct fault *f)
{
    struct content x;
    int rc = content_new_all(&x, s, k, f);

    if (!rc) {
        enum scope scope = x.parcels.learners ? SCOPE_LEARNERS : SCOPE_WORLD;

        if (scope == SCOPE_WORLD || writes(s->comm))
            rc = write_file_all(s, &x, scope, f);
        if (!rc && comm_rank(s->comm) == 0) {
            s->serial = x.head.serial;
            rc = name_latest(s, x.head.step, f);
        }
        rc = comm_agree_all(s->comm, rc, f);
    }
    content_free(&x);
    return rc;
}

/* -- reading -------------------------------------------------------------------------
 */
/* The head as rank 0 reads it, on every rank; `data` (may be NULL) on rank 0 only. */
static int open_head_all(struct store *s, int64_t step, struct head *head,
                         struct head_data *data, struct fault *f)
{
    char *path = step_path(s->checkpoints, step, f);
    int rc = path ? 0 : f->code;

    if (!rc && comm_rank(s->comm) == 0) {
        rc = head_read(head, path, data, f);
        if (!rc)
            rc = named_for(path, head->step, f);
    }
    free(path);
    if ((rc = comm_agree_all(s->comm, rc, f)))
        return rc;
    comm_bcast_all(s->comm, SCOPE_WORLD, head, sizeof *head);
    return 0;
}

int store_checkpoint_head_all(struct store *s, int64_t step, struct checkpoint *k,
                              struct identity *id, struct fault *f)
{
    struct head head = {0};
    int rc = open_head_all(s, step, &head, NULL, f);

    if (rc)
        return rc;
    *id = head.id;
    *k = (struct checkpoint){.step = head.step,
                             .updates = head.updates,
                             .cursor = head.cursor,
                             .previous_updates = head.previous,
                             .n_params = head.n_params,
                             .n_tensors = (int)head.n_tensors,
                             .n_state = (int)head.n_state,
                             .identity = id};
    return 0;
}

int store_checkpoint_config_all(struct store *s, int64_t step, char **text,
                                struct fault *f)
{
    struct head_data data = {0};
    struct head head = {0};
    int rc = open_head_all(s, step, &head, &data, f);

    *text = NULL;
    if (!rc) {
        *text = mem_new((size_t)head.n_config + 1, 1, "a configuration", f);
        rc = comm_agree_all(s->comm, *text ? 0 : f->code, f);
    }
    if (!rc) {
        if (data.config) /* rank 0's */
            memcpy(*text, data.config, (size_t)head.n_config);
        comm_bcast_all(s->comm, SCOPE_WORLD, *text, (size_t)head.n_config);
    } else {
        free(*text);
        *text = NULL;
    }
    head_data_free(&data);
    return rc;
}

/* One array being read: those who want it share the reading, then tell each other. */
struct reading {
    const struct head *head;
    const char *path, *name;
    MPI_Comm among; /* MPI_COMM_NULL on ranks that don't want it */
    int rank, ranks;
    float *x;
    uint64_t *sums;
};

/* This rank's pieces of it, each against its checksum. */
static int read_pieces(struct h5 *h, const struct reading *r, hid_t column, hid_t sums,
                       struct fault *f)
{
    const struct head *head = r->head;
    int64_t first, end = head_share(head, r->rank, r->ranks, &first), at;
    int64_t pieces = (end - first + head->piece - 1) / head->piece;

    h5_read(h, sums, H5T_NATIVE_UINT64, pieces ? (hsize_t)(first / head->piece) : 0,
            (hsize_t)pieces, r->sums);
    at = head_read_pieces(h, column, head, first, end, r->sums, r->x, true);
    if (at < end && !h->bad)
        return fault_set(f, FAULT_DATA,
                         "%s: %s is damaged (checksum of values %" PRId64
                         " and on); take an earlier checkpoint",
                         r->path, r->name, at);
    return h5_fault(h, r->path, f);
}

/* Every slice from the rank that read it. */
static void spread_all(const struct store *s, const struct reading *r)
{
    int64_t call = (int64_t)(s->call / sizeof *r->x);

    for (int k = 0; k < r->ranks; k++) {
        int64_t first, end = head_share(r->head, k, r->ranks, &first);

        for (int64_t n; first < end; first += n) {
            n = end - first < call ? end - first : call;
            MUST(MPI_Bcast(r->x + first, (int)n, MPI_FLOAT, k, r->among));
        }
    }
}

static int read_array_all(struct store *s, struct h5 *h, hid_t file, struct reading *r,
                          const char *sums_name, struct fault *f)
{
    hsize_t n, n_sums;
    hid_t column = h5_open_column(h, file, r->name, H5T_NATIVE_FLOAT, &n);
    hid_t sums = h5_open_column(h, file, sums_name, H5T_NATIVE_UINT64, &n_sums);
    int rc = h5_fault(h, r->path, f);

    r->ranks = r->rank = 0;
    MUST(MPI_Comm_split(comm_mpi(s->comm), r->x ? 1 : MPI_UNDEFINED, 0, &r->among));
    if (r->x) {
        MUST(MPI_Comm_size(r->among, &r->ranks));
        MUST(MPI_Comm_rank(r->among, &r->rank));
    }
    r->sums = mem_new((size_t)(head_pieces(r->head) / (r->ranks ? r->ranks : 1) + 1),
                      sizeof *r->sums, "checksums", f);
    if (!rc && !r->sums)
        rc = f->code;
    if (!rc && r->x)
        rc = read_pieces(h, r, column, sums, f);
    rc = comm_agree_all(s->comm, rc, f);
    if (!rc && r->x)
        spread_all(s, r);
    if (r->x)
        MUST(MPI_Comm_free(&r->among));
    free(r->sums);
    return rc;
}

/* Room asked for must be the room that was given. */
static int check_room(const struct checkpoint *k, const struct head *head,
                      const char *path, struct fault *f)
{
    if (k->n_params == head->n_params && k->n_state == head->n_state)
        return 0;
    return fault_set(f, FAULT_DATA,
                     "%s: holds %" PRId64 " parameters and %" PRId64
                     " numbers of state, this run has %" PRId64 " and %d",
                     path, head->n_params, head->n_state, k->n_params, k->n_state);
}

static int read_big_all(struct store *s, const struct head *head, const char *path,
                        struct checkpoint *k, struct fault *f)
{
    struct h5 h = H5_INIT;
    float *x[BIG] = {k->params, k->moment1, k->moment2, k->previous};
    struct fault later = FAULT_INIT;
    hid_t access, file;
    int rc, closing;

    h.code = FAULT_DATA;
    access = h5_access(&h);
    h5_check(&h, H5Pset_fapl_mpio(access, comm_mpi(s->comm), MPI_INFO_NULL));
    file = h5_keep(&h, H5Fopen(path, H5F_ACC_RDONLY, access));
    rc = comm_agree_all(s->comm, h5_fault(&h, path, f), f);
    for (int i = 0; !rc && i < head_arrays(head); i++) {
        struct reading r = {.head = head, .path = path, .name = head_big[i], .x = x[i]};

        rc = read_array_all(s, &h, file, &r, head_sums[i], f);
    }
    closing = h5_end(&h, path, rc ? &later : f);
    return rc ? rc : comm_agree_all(s->comm, closing, f);
}

int store_checkpoint_read_all(struct store *s, int64_t step, struct checkpoint *k,
                              struct fault *f)
{
    struct comm *c = s->comm;
    struct head_data data = {0};
    char *path = NULL;
    struct head head = {0};
    int rc = open_head_all(s, step, &head, &data, f);

    if (rc)
        return rc;
    path = step_path(s->checkpoints, step, f);
    rc = path ? check_room(k, &head, path, f) : f->code;
    rc = comm_agree_all(c, rc, f);
    if (!rc)
        rc = read_big_all(s, &head, path, k, f);
    if (!rc) {
        k->step = head.step;
        k->updates = head.updates;
        k->cursor = head.cursor;
        k->previous_updates = head.previous;
        if (data.state && k->n_state) /* rank 0's */
            memcpy(k->state, data.state, (size_t)k->n_state * sizeof *k->state);
        comm_bcast_all(c, SCOPE_WORLD, k->state, (size_t)k->n_state * sizeof *k->state);
    }
    head_data_free(&data);
    free(path);
    return rc;
}
