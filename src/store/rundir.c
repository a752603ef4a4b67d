/* rundir.c - see rundir.h. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "dapo/inject.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "store/rundir.h"

#include "comm/comm_mpi.h"

int64_t step_of_name(const char *name)
{
    static const char front[] = "step-", back[] = ".h5";
    size_t digits;
    int64_t step = 0;

    if (strncmp(name, front, sizeof front - 1) != 0)
        return -1;
    name += sizeof front - 1;
    digits = strspn(name, "0123456789");
    if (digits < 6 || digits > 18 || strcmp(name + digits, back) != 0)
        return -1;
    for (size_t i = 0; i < digits; i++)
        step = 10 * step + (name[i] - '0');
    /* "step-0000001.h5" is not how we write 1. */
    return digits > 6 && name[0] == '0' ? -1 : step;
}

int64_t latest_names(const char *path, bool *there)
{
    struct fault why = FAULT_INIT;
    struct bytes text = {0};
    int64_t step = -1;

    *there = !file_read(path, 64, &text, &why);
    if (*there) {
        text.data[strcspn(text.data, "\n")] = '\0';
        step = step_of_name(text.data);
    }
    bytes_free(&text);
    return step;
}

bool is_tmp(const char *name)
{
    size_t n = strlen(name), k = sizeof TMP_SUFFIX - 1;

    return n > k && strcmp(name + n - k, TMP_SUFFIX) == 0;
}

char *step_path(const char *folder, int64_t step, struct fault *f)
{
    struct bytes b = {0};
    int rc;

    if (step < 0 || step > INT64_C(999999999999999999)) {
        fault_set(f, FAULT_BUG, "%s: there is no step %" PRId64, folder, step);
        return NULL;
    }
    rc = bytes_printf(&b, f, "%s/step-%06" PRId64 ".h5", folder, step);
    if (rc)
        bytes_free(&b);
    return b.data;
}

int named_for(const char *path, int64_t step, struct fault *f)
{
    const char *slash = strrchr(path, '/');
    int64_t named = step_of_name(slash ? slash + 1 : path);

    return named < 0 || named == step
               ? 0
               : fault_set(f, FAULT_DATA, "%s: is the file of step %" PRId64, path,
                           step);
}

char *free_path(const char *folder, const char *file, struct fault *f)
{
    struct bytes b = {0};
    int rc = bytes_printf(&b, f, "%s/%s", folder, file);
    struct stat st;
    size_t n = b.len;

    for (int i = 2; !rc && lstat(b.data, &st) == 0; i++) {
        b.len = n;
        rc = bytes_printf(&b, f, ".%d", i);
    }
    if (rc)
        bytes_free(&b);
    return b.data;
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

int step_list(const char *folder, int64_t **steps, size_t *n, struct fault *f)
{
    DIR *d = opendir(folder);
    size_t cap = 0;
    int rc = 0;

    *steps = NULL;
    *n = 0;
    if (!d)
        return fault_set(f, FAULT_FILE, "%s: can't be listed: %s", folder,
                         strerror(errno));
    for (struct dirent *e; !rc && (e = readdir(d));) {
        int64_t step = step_of_name(e->d_name);

        if (step < 0)
            continue;
        rc = mem_grow((void **)steps, &cap, *n + 1, sizeof **steps, "a list of steps",
                      f);
        if (!rc)
            (*steps)[(*n)++] = step;
    }
    closedir(d);
    if (*n)
        qsort(*steps, *n, sizeof **steps, ascending);
    return rc;
}

/* Room for the coming file: a full disk must show here, where failing is cheap, and not
 * while HDF5 closes the file.  HDF5 cuts the rest off when it closes the file. */
static int reserve(const struct draft *d, size_t bytes, struct fault *f)
{
    size_t room = bytes + bytes / 64 + ((size_t)1 << 20); /* metadata, alignment */
    struct statvfs disk;
    int bad;

    if (inject_pass(INJECT_RESERVE, f))
        return f->code;
    bad = fallocate(d->fd, 0, 0, (off_t)room) ? errno : 0;

    if (bad == EOPNOTSUPP || bad == ENOSYS)
        bad = !fstatvfs(d->fd, &disk) && room / disk.f_frsize > disk.f_bavail ? ENOSPC
                                                                              : 0;
    if (bad != ENOSPC && bad != EDQUOT && bad != EFBIG)
        return 0;
    return fault_set(f, FAULT_FILE,
                     "%s: no room for its %zu bytes: %s; free some and run again",
                     d->path, room, strerror(bad));
}

/* Rank 0: the temporary file itself. */
static int make_tmp(struct draft *d, struct fault *f)
{
    char *slash = strrchr(d->tmp, '/');

    *slash = '\0';
    d->folder = open(d->tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    *slash = '/';
    if (d->folder >= 0)
        d->fd = openat(d->folder, slash + 1, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC,
                       0666);
    if (d->fd < 0)
        return fault_set(f, FAULT_FILE, "%s: can't be created: %s", d->tmp,
                         strerror(errno));
    return 0;
}

static void remove_tmp(const struct draft *d)
{
    if (d->fd >= 0)
        unlinkat(d->folder, strrchr(d->tmp, '/') + 1, 0);
}

int draft_begin_all(struct draft *d, struct store *s, enum scope scope, char *path,
                    size_t bytes, struct fault *f)
{
    struct bytes tmp = {0};
    hid_t access, props;
    int rc = path ? bytes_printf(&tmp, f, "%s" TMP_SUFFIX, path) : f->code;

    *d = (struct draft){.store = s, .scope = scope, .h = H5_INIT, .path = path};
    d->file = H5I_INVALID_HID;
    d->fd = d->folder = -1;
    d->tmp = tmp.data;
    if (!rc)
        rc = inject_pass(INJECT_OPEN, f);
    if (!rc && d->tmp && comm_rank(s->comm) == 0)
        rc = make_tmp(d, f);
    access = h5_access(&d->h);
    h5_check(&d->h,
             H5Pset_fapl_mpio(access, comm_mpi_of(s->comm, scope), MPI_INFO_NULL));
    props = h5_file_props(&d->h);
    if ((rc = draft_agree_all(d, rc, f)))
        return rc;

    d->file = h5_keep(&d->h, H5Fcreate(d->tmp, H5F_ACC_TRUNC, props, access));
    if (!d->h.bad && d->fd >= 0 && s->reserve)
        rc = reserve(d, bytes, f);
    return draft_agree_all(d, rc, f);
}

int draft_agree_all(struct draft *d, int rc, struct fault *f)
{
    if (!rc)
        rc = h5_fault(&d->h, d->path, f);
    return comm_agree_among_all(d->store->comm, d->scope, rc, f);
}

/* From now on what HDF5 writes into the draft goes nowhere: the descriptors that MPI
 * holds of it are turned to memory.  Closing writes metadata, and where one rank's
 * write fails in there, the others wait for it in another of HDF5's barriers for ever.
 */
static void divert(const struct draft *d)
{
    const char *name = d->tmp ? strrchr(d->tmp, '/') : NULL;
    int sink = name ? memfd_create("draft", MFD_CLOEXEC) : -1;
    DIR *list = opendir("/proc/self/fd");
    struct dirent *e;

    while (sink >= 0 && list && (e = readdir(list))) {
        int fd = (int)strtol(e->d_name, NULL, 10);
        char path[4096];
        ssize_t n = readlinkat(dirfd(list), e->d_name, path, sizeof path - 1);
        const char *base;

        if (n <= 0 || fd == d->fd)
            continue;
        path[n] = '\0';
        base = strrchr(path, '/');
        if (base && !strncmp(base, name, strlen(name)))
            dup3(sink, fd, O_CLOEXEC);
    }
    if (list)
        closedir(list);
    if (sink >= 0)
        close(sink);
}

/* Close the file; after a failure (rc) without writing to it.  If even that fails, HDF5
 * can't be left in an orderly way: it would crash when MPI ends.  So the job ends here.
 */
static void close_file_all(struct draft *d, int rc, const struct fault *f)
{
    struct h5 *h = &d->h;

    if (rc)
        divert(d);
    h->bad = false;
    h5_drop(h, 0);
    if (!h->bad)
        return;
    if (rc)
        log0_line(LOG_ERROR, "%s", f->text);
    log_line(LOG_ERROR, "%s: can't be closed: %s; ending the job", d->path, h->why);
    remove_tmp(d);
    comm_abort(d->store->comm, FAULT_FILE);
}

/* What this node's client may still hold. */
static int sync_file(const struct store *s, const char *path, struct fault *f)
{
    int fd, bad;

    if (!s->syncs)
        return 0;
    if (inject_pass(INJECT_SYNC, f))
        return f->code;
    fd = open(path, O_WRONLY | O_CLOEXEC);
    bad = fd < 0 ? errno : 0;

    if (!bad && fsync(fd) && errno != EINVAL && errno != ENOTSUP)
        bad = errno;
    if (fd >= 0)
        close(fd);
    return bad ? fault_set(f, FAULT_FILE, "%s: can't be written to the disk: %s", path,
                           strerror(bad))
               : 0;
}

int draft_close_all(struct draft *d, int rc, struct fault *f)
{
    if (!rc)
        rc = draft_agree_all(d, inject_pass(INJECT_CLOSE, f), f);
    close_file_all(d, rc, f);
    d->closed = true;
    return rc;
}

int draft_publish_all(struct draft *d, int rc, struct fault *f)
{
    if (!d->closed)
        rc = draft_close_all(d, rc, f);
    if (!rc)
        rc = draft_agree_all(d, sync_file(d->store, d->tmp, f), f);
    if (!rc) {
        if (comm_rank(d->store->comm) == 0)
            rc = file_rename(d->tmp, d->path, f);
        rc = draft_agree_all(d, rc, f);
    }
    if (rc)
        remove_tmp(d);
    if (d->fd >= 0)
        close(d->fd);
    if (d->folder >= 0)
        close(d->folder);
    free(d->tmp);
    free(d->path);
    *d = (struct draft){.file = H5I_INVALID_HID, .fd = -1, .folder = -1};
    return rc;
}

void identity_copy(struct identity *out, const struct identity *id)
{
    *out = (struct identity){0};
    if (!id)
        return;
    snprintf(out->config, sizeof out->config, "%s", id->config);
    snprintf(out->tokenizer, sizeof out->tokenizer, "%s", id->tokenizer);
    snprintf(out->data, sizeof out->data, "%s", id->data);
    snprintf(out->model, sizeof out->model, "%s", id->model);
    snprintf(out->grader, sizeof out->grader, "%s", id->grader);
    snprintf(out->build, sizeof out->build, "%s", id->build);
}

void write_identity(struct h5 *h, hid_t file, const char *kind,
                    const struct identity *id)
{
    char text[16] = {0};

    snprintf(text, sizeof text, "%s", kind);
    h5_set_i64(h, file, "schema", STORE_SCHEMA);
    h5_set_text(h, file, "kind", text, sizeof text);
    h5_set_text(h, file, "config_hash", id->config, sizeof id->config);
    h5_set_text(h, file, "tokenizer_hash", id->tokenizer, sizeof id->tokenizer);
    h5_set_text(h, file, "data_hash", id->data, sizeof id->data);
    h5_set_text(h, file, "model_hash", id->model, sizeof id->model);
    h5_set_text(h, file, "grader_version", id->grader, sizeof id->grader);
    h5_set_text(h, file, "build_id", id->build, sizeof id->build);
}

void read_identity(struct h5 *h, hid_t file, const char *kind, struct identity *id)
{
    char text[16], why[96];
    int64_t schema = h5_get_i64(h, file, "schema");

    if (!h->bad && schema != STORE_SCHEMA) {
        snprintf(why, sizeof why, "has schema %" PRId64 ", this build reads %d", schema,
                 STORE_SCHEMA);
        h5_fail(h, why);
    }
    h5_get_text(h, file, "kind", text, sizeof text);
    if (!h->bad && strcmp(text, kind) != 0) {
        snprintf(why, sizeof why, "is a %.15s file, not a %s", text, kind);
        h5_fail(h, why);
    }
    if (!h->bad && h5_get_i64(h, file, "complete") != 1)
        h5_fail(h, "is not complete");
    h5_get_text(h, file, "config_hash", id->config, sizeof id->config);
    h5_get_text(h, file, "tokenizer_hash", id->tokenizer, sizeof id->tokenizer);
    h5_get_text(h, file, "data_hash", id->data, sizeof id->data);
    h5_get_text(h, file, "model_hash", id->model, sizeof id->model);
    h5_get_text(h, file, "grader_version", id->grader, sizeof id->grader);
    h5_get_text(h, file, "build_id", id->build, sizeof id->build);
}
