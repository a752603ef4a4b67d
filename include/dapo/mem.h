/* mem.h - checked arithmetic, zeroed allocation, growing arrays, whole files.
 *
 * Sizes that come from files are untrusted: every product and sum of them goes
 * through size_mul / size_add before it is allocated or compared.
 */
#ifndef DAPO_MEM_H
#define DAPO_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include "dapo/fault.h"

/* *out = a op b; false (and *out untouched) on overflow. */
bool size_mul(size_t a, size_t b, size_t *out);
bool size_add(size_t a, size_t b, size_t *out);
/* 1536 -> "1.50 KiB", in `text`, which is returned. */
const char *size_text(double bytes, char text[32]);

/* n zeroed items of `width` bytes, never NULL for n = 0.  NULL on overflow or when
 * memory is out, with FAULT_SYSTEM in *f naming `what`.  Give back with free(). */
void *mem_new(size_t n, size_t width, const char *what, struct fault *f);

/* Grow *items (of `width` bytes, room for *cap) to hold at least `need`, doubling.
 * New room is zeroed.  Returns 0 or FAULT_SYSTEM; *items stays valid either way. */
int mem_grow(void **items, size_t *cap, size_t need, size_t width, const char *what,
             struct fault *f);

/* A growing byte string, always NUL-terminated once something was added. */
struct bytes {
    char *data; /* len bytes and a NUL; NULL while empty */
    size_t len, cap;
};
int bytes_add(struct bytes *b, const void *data, size_t n, struct fault *f);
int bytes_printf(struct bytes *b, struct fault *f, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bytes_free(struct bytes *b);

/* Read a whole regular file of at most `most` bytes into *out (caller frees with
 * bytes_free).  FAULT_FILE if it can't be read, FAULT_DATA if it is larger. */
int file_read(const char *path, size_t most, struct bytes *out, struct fault *f);
/* Write n bytes to `path` so that a reader sees the old file or the whole new one:
 * temporary name in the same folder, fsync, rename, fsync of the folder. */
int file_publish(const char *path, const void *data, size_t n, struct fault *f);
/* Whether it could, to be told before the work and not after it; leaves nothing. */
int file_publishable(const char *path, struct fault *f);
/* fsync `tmp`, rename it to `path`, fsync the folder: the last steps of a publish for
 * whoever wrote `tmp` by other means.  file_rename is for one that is synced already.
 */
int file_sync_rename(const char *tmp, const char *path, struct fault *f);
int file_rename(const char *tmp, const char *path, struct fault *f);
/* mkdir -p.  0 or FAULT_FILE. */
int dir_make(const char *path, struct fault *f);
/* Both are there, and one file or folder. */
bool path_same(const char *a, const char *b);
/* "dir/name" in a new string; NULL with FAULT_SYSTEM. */
char *path_join(const char *dir, const char *name, struct fault *f);

/* XXH3 of n bytes (xxHash, 64 bit); continue from an earlier value with `seed`. */
unsigned long long hash64(const void *data, size_t n, unsigned long long seed);
/* 128-bit XXH3 of a file as 32 hexadecimal digits, as `xxhsum -H2` prints it. */
int hash_file(const char *path, char hex[33], struct fault *f);

#endif
