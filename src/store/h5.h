/* h5.h - private: HDF5 ids that are closed together, and the few shapes of data we
 * write.
 *
 * Calls may be chained without checks: after a failure the ids are negative, HDF5
 * refuses them, and h5_end reports the first thing that went wrong.  Closing goes in
 * reverse order and is collective in parallel HDF5, so every rank must keep the same
 * ids.  Nothing here calls MPI by itself; what is collective through HDF5 says so.
 */
#ifndef DAPO_STORE_H5_H
#define DAPO_STORE_H5_H

#include <hdf5.h>
#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/inject.h"

#define H5_IDS 64

struct h5 {
    int n;         /* ids kept */
    bool bad;      /* something failed */
    int code;      /* what a failure is: FAULT_FILE, or FAULT_DATA when reading */
    char why[200]; /* innermost HDF5 message of the first failure */
    hid_t id[H5_IDS];
};

#define H5_INIT ((struct h5){.code = FAULT_FILE})

hid_t h5_keep(struct h5 *h, hid_t id);  /* an id to close; returned as is */
void h5_check(struct h5 *h, herr_t rc); /* a call with nothing to close */
void h5_drop(struct h5 *h, int mark);   /* close what was kept since h->n was mark */
void h5_fail(struct h5 *h, const char *why); /* our own reason, unless one is there */
/* What failed so far, as h->code; 0 if nothing did.  Closes nothing. */
int h5_fault(const struct h5 *h, const char *path, struct fault *f);
/* Close everything; 0 or h->code. */
int h5_end(struct h5 *h, const char *path, struct fault *f);

/* Properties.  h5_access: how our files are opened: metadata in the format of HDF5
 * 1.10, whose checksums tell a damaged file from a good one; no locks (many network
 * file systems have none). */
hid_t h5_access(struct h5 *h);
/* Creation properties of files and groups (no times: equal content, equal bytes). */
hid_t h5_file_props(struct h5 *h);
/* A group; and those of the groups on the way to `name` that aren't there yet. */
void h5_group(struct h5 *h, hid_t file, const char *name);
void h5_groups_to(struct h5 *h, hid_t file, const char *name);
/* A 1-D dataset of n items, contiguous and allocated at once. */
hid_t h5_column(struct h5 *h, hid_t file, const char *name, hid_t type, hsize_t n);
/* A dataset of n items (n < 0: a scalar) that lies in the file's metadata: every rank
 * must give the same bytes.  At most 32 KiB. */
void h5_small(struct h5 *h, hid_t file, const char *name, hid_t type, int n,
              const void *data);
/* Text of fixed size, padded with NULs. */
hid_t h5_text_type(struct h5 *h, size_t size);

/* Attributes of the file's root. */
void h5_set_i64(struct h5 *h, hid_t file, const char *name, int64_t value);
void h5_set_u64(struct h5 *h, hid_t file, const char *name, uint64_t value);
/* `size` bytes of a NUL-padded array. */
void h5_set_text(struct h5 *h, hid_t file, const char *name, const char *text,
                 size_t size);
int64_t h5_get_i64(struct h5 *h, hid_t file, const char *name);
uint64_t h5_get_u64(struct h5 *h, hid_t file, const char *name);
/* Into text[size], NUL-terminated; anything but a text shorter than `size` is a
 * failure. */
void h5_get_text(struct h5 *h, hid_t file, const char *name, char *text, size_t size);

/* Open a 1-D contiguous dataset of exactly this type for reading; its items in *n.
 * Any other shape, type, layout or place of storage is a failure. */
hid_t h5_open_column(struct h5 *h, hid_t file, const char *name, hid_t type,
                     hsize_t *n);

/* How many items such a column has; it does not stay open. */
int64_t h5_items(struct h5 *h, hid_t file, const char *name, hid_t type);

/* Passage through a point where a test may ask for a failure; also a sign of life. */
void h5_pass(struct h5 *h, enum inject_point p);

/* Write or read items [first, first + n) of a column; n may be 0.  Not collective. */
void h5_write(struct h5 *h, hid_t column, hid_t type, hsize_t first, hsize_t n,
              const void *data);
void h5_read(struct h5 *h, hid_t column, hid_t type, hsize_t first, hsize_t n,
             void *data);

/* Open an existing file to read from it; what goes wrong inside it is FAULT_DATA.
 * Returns FAULT_FILE if it is not there or not ours to read, FAULT_DATA if it is a
 * folder, a pipe (in which HDF5 would wait for a writer) or whatever else holds no
 * values. */
int h5_open_file(struct h5 *h, hid_t *file, const char *path, struct fault *f);
/* A whole column of int64, or of an enumeration over it, of `want` items in a new
 * array; NULL on failure (h), or out of memory (*f). */
int64_t *h5_read_i64(struct h5 *h, hid_t file, const char *name, int64_t want,
                     struct fault *f);

#endif
