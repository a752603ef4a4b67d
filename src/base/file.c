/* file.c - whole files: reading with a bound, publishing by rename, hashing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "dapo/inject.h"
#include "dapo/mem.h"

int file_read(const char *path, size_t most, struct bytes *out, struct fault *f)
{
    struct stat st;
    FILE *in = NULL;
    size_t got = 0, size;
    int rc = 0, fd;

    *out = (struct bytes){0};
    if (inject_pass(INJECT_OPEN, f))
        return f->code;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a pipe's writer may not be */
    if (fd >= 0 && !(in = fdopen(fd, "rb")))
        close(fd);
    if (!in)
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                         strerror(errno));
    if (fstat(fileno(in), &st) || !S_ISREG(st.st_mode))
        rc = fault_set(f, FAULT_FILE, "%s: is not a regular file", path);
    else if ((unsigned long long)st.st_size > most)
        rc = fault_set(f, FAULT_DATA, "%s: has %lld bytes, more than the %zu allowed",
                       path, (long long)st.st_size, most);
    if (!rc) {
        size = (size_t)st.st_size;
        rc = mem_grow((void **)&out->data, &out->cap, size + 1, 1, path, f);
        if (!rc && (got = fread(out->data, 1, size, in)) != size)
            rc = fault_set(f, FAULT_FILE, "%s: only %zu of %zu bytes could be read",
                           path, got, size);
        out->len = got;
        if (!rc)
            out->data[got] = '\0';
    }
    fclose(in);
    if (rc)
        bytes_free(out);
    return rc;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags), rc;

    if (fd < 0)
        return -1;
    rc = fsync(fd);
    /* Some file systems have no fsync of a folder; their rename is as good as it gets.
     */
    if (rc && (errno == EINVAL || errno == ENOTSUP))
        rc = 0;
    close(fd);
    return rc;
}

int file_rename(const char *tmp, const char *path, struct fault *f)
{
    char *dir = strdup(path), *slash;
    int rc = 0;

    if (!dir)
        return fault_set(f, FAULT_SYSTEM, "no memory for a path");
    if (inject_pass(INJECT_RENAME, f)) {
        free(dir);
        return f->code;
    }
    slash = strrchr(dir, '/');
    if (slash)
        slash[slash == dir] = '\0';
    if (rename(tmp, path) || sync_path(slash ? dir : ".", O_RDONLY | O_DIRECTORY))
        rc = fault_set(f, FAULT_FILE, "%s: can't be published: %s", path,
                       strerror(errno));
    free(dir);
    return rc;
}

int file_sync_rename(const char *tmp, const char *path, struct fault *f)
{
    if (inject_pass(INJECT_SYNC, f))
        return f->code;
    if (sync_path(tmp, O_RDONLY))
        return fault_set(f, FAULT_FILE, "%s: can't be published: %s", path,
                         strerror(errno));
    return file_rename(tmp, path, f);
}

int file_publish(const char *path, const void *data, size_t n, struct fault *f)
{
    struct bytes tmp = {0};
    FILE *out;
    int rc = bytes_printf(&tmp, f, "%s.tmp", path);

    if (!rc)
        rc = inject_pass(INJECT_OPEN, f);
    if (rc) {
        bytes_free(&tmp);
        return rc;
    }
    out = fopen(tmp.data, "wb");
    if (!out)
        rc = fault_set(f, FAULT_FILE, "%s: can't be created: %s", tmp.data,
                       strerror(errno));
    if (out) {
        bool bad = n && fwrite(data, 1, n, out) != n;

        rc = inject_pass(INJECT_WRITE, f);
        if (fclose(out) || bad)
            rc = fault_set(f, FAULT_FILE, "%s: can't be written: %s", tmp.data,
                           strerror(errno));
    }
    if (!rc)
        rc = file_sync_rename(tmp.data, path, f);
    if (rc && out)
        unlink(tmp.data);
    bytes_free(&tmp);
    return rc;
}

int dir_make(const char *path, struct fault *f)
{
    char *p = strdup(path);
    int rc = 0;

    if (!p)
        return fault_set(f, FAULT_SYSTEM, "no memory for a path");
    for (char *s = p + (*p == '/'); !rc; s++) {
        char c = *s;

        if (c != '/' && c != '\0')
            continue;
        *s = '\0';
        if (*p && mkdir(p, 0777) && errno != EEXIST)
            rc = fault_set(f, FAULT_FILE, "%s: can't make the folder: %s", p,
                           strerror(errno));
        *s = c;
        if (c == '\0')
            break;
    }
    free(p);
    return rc;
}

int file_publishable(const char *path, struct fault *f)
{
    struct bytes tmp = {0};
    struct stat st;
    int rc = bytes_printf(&tmp, f, "%s.tmp", path), fd;

    if (rc)
        return rc;
    if (!stat(path, &st) && S_ISDIR(st.st_mode))
        rc = fault_set(f, FAULT_FILE, "%s: is a folder; name a file to write", path);
    else if ((fd = open(tmp.data, O_WRONLY | O_CREAT | O_CLOEXEC, 0666)) < 0)
        rc = fault_set(f, FAULT_FILE, "%s: can't be created: %s", tmp.data,
                       strerror(errno));
    else if (close(fd) || unlink(tmp.data))
        rc = fault_set(f, FAULT_FILE, "%s: can't be removed: %s", tmp.data,
                       strerror(errno));
    bytes_free(&tmp);
    return rc;
}

bool path_same(const char *a, const char *b)
{
    struct stat x, y;

    return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

char *path_join(const char *dir, const char *name, struct fault *f)
{
    struct bytes b = {0};
    size_t n = strlen(dir);
    bool slash = n > 0 && dir[n - 1] != '/';

    if (bytes_printf(&b, f, "%s%s%s", dir, slash ? "/" : "", name)) {
        bytes_free(&b);
        return NULL;
    }
    return b.data;
}

unsigned long long hash64(const void *data, size_t n, unsigned long long seed)
{
    return XXH3_64bits_withSeed(data, n, seed);
}

int hash_file(const char *path, char hex[33], struct fault *f)
{
    FILE *in = fopen(path, "rb");
    XXH3_state_t *state = XXH3_createState();
    char *block = malloc(1 << 16);
    XXH128_hash_t h;
    size_t n;
    int rc = 0;

    if (!in)
        rc = fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path, strerror(errno));
    else if (!state || !block)
        rc = fault_set(f, FAULT_SYSTEM, "no memory for hashing %s", path);
    if (!rc) {
        XXH3_128bits_reset(state);
        while ((n = fread(block, 1, 1 << 16, in)) > 0)
            XXH3_128bits_update(state, block, n);
        if (ferror(in))
            rc = fault_set(f, FAULT_FILE, "%s: can't be read", path);
        h = XXH3_128bits_digest(state);
        snprintf(hex, 33, "%016llx%016llx", (unsigned long long)h.high64,
                 (unsigned long long)h.low64);
    }
    if (in)
        fclose(in);
    free(block);
    XXH3_freeState(state);
    return rc;
}
