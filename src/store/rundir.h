/* rundir.h - private: the run directory's paths, and files that appear complete.
 *
 * A draft is a file being written under a temporary name by the ranks of its scope, who
 * alone call what is said of it here: each step of a file is a wait for all who share
 * it, so the fewer the better.  The order of its life: draft_begin_all, HDF5 calls
 * chained on its `h`, draft_publish_all, which closes, syncs and renames it, or removes
 * it after a failure.
 *
 * Making objects in a file is collective: its ranks do it alike, then agree.  Transfers
 * of values are independent: each rank has its own contiguous slices, so nothing is to
 * be gained from shuffling them first (measured: 2 to 5 times slower for a step file),
 * and a rank whose write fails leaves no other waiting inside HDF5; all agree
 * afterwards.
 */
#ifndef DAPO_STORE_RUNDIR_H
#define DAPO_STORE_RUNDIR_H

#include <sys/stat.h>
#include "dapo/mem.h"
#include "dapo/store.h"
#include "store/h5.h"

#define TMP_SUFFIX ".tmp"

/* A checkpoint whose head has been read. */
struct found {
    int64_t step, serial;
    struct stat stat; /* of its file then */
};

struct store {
    struct comm *comm;
    char *dir, *rollouts, *checkpoints;
    int64_t serial; /* rank 0: of the newest checkpoint; the next one's is one more */
    struct found *found; /* rank 0: [n_found] newest first, of the last look */
    size_t n_found;
    char *scratch;  /* [window] bytes */
    size_t window;  /* bytes packed before each write of rows */
    size_t call;    /* most bytes of one broadcast */
    int64_t piece;  /* values under one checksum */
    int lock;       /* rank 0: keeps other jobs out while it is open; else -1 */
    bool syncs;     /* the first rank of its node, which syncs files for all of them */
    bool reserve;   /* room on the disk before writing; off in a test only */
    bool read_back; /* checkpoints before they get their name; off in a bench only */
};

/* The step of a file name "step-NNNNNN.h5"; -1 for any other name. */
int64_t step_of_name(const char *name);
/* The step that a file as checkpoints/latest names; -1 if none, or if it can't be read:
 * then it isn't *there. */
int64_t latest_names(const char *path, bool *there);
/* Whether a file of this name is one being written. */
bool is_tmp(const char *name);
/* "FOLDER/step-NNNNNN.h5" in a new string. */
char *step_path(const char *folder, int64_t step, struct fault *f);
/* FAULT_DATA if a file that holds this step is called as one of another step is. */
int named_for(const char *path, int64_t step, struct fault *f);
/* "FOLDER/FILE" in a new string, or FILE.2, FILE.3 ..., the first that is free: what is
 * set aside there takes no other's place. */
char *free_path(const char *folder, const char *file, struct fault *f);
/* Steps of the files in a folder, ascending, in a new array of *n; rank 0's work. */
int step_list(const char *folder, int64_t **steps, size_t *n, struct fault *f);

/* Let checkpoints/latest, for people and scripts, name this step; rank 0's work. */
int name_latest(struct store *s, int64_t step, struct fault *f);

struct draft {
    struct store *store;
    enum scope scope; /* rank 0 is always among them */
    struct h5 h;
    char *path, *tmp;
    hid_t file;
    int fd;     /* rank 0's, for reserving room; -1 elsewhere */
    int folder; /* rank 0's, where the file is: its name goes even if the path has gone
                   (a file system unmounted meanwhile) */
    bool closed;
};

/* Create PATH.tmp and reserve `bytes` for it, so that a full disk is known before
 * anything is written.  Takes `path` (NULL: out of memory, with *f set). */
int draft_begin_all(struct draft *d, struct store *s, enum scope scope, char *path,
                    size_t bytes, struct fault *f);
/* On this and what HDF5 says of the file. */
int draft_agree_all(struct draft *d, int rc, struct fault *f);
/* Close the file, after which it can be read back under its temporary name (d->tmp)
 * while the disk is still at work on it; rc as below. */
int draft_close_all(struct draft *d, int rc, struct fault *f);
/* To be called after draft_begin_all whatever that said, with the agreed outcome so
 * far: sync the file and give it its final name if rc == 0 and nothing failed, else
 * remove it; frees d.  Returns the agreed outcome. */
int draft_publish_all(struct draft *d, int rc, struct fault *f);

/* Nothing behind the ends of the texts: it is hashed and written.  NULL: all empty. */
void identity_copy(struct identity *out, const struct identity *id);
/* The attributes every file of ours carries, and reading them back.  `kind` is "step"
 * or "checkpoint". */
void write_identity(struct h5 *h, hid_t file, const char *kind,
                    const struct identity *id);
void read_identity(struct h5 *h, hid_t file, const char *kind, struct identity *id);

/* All of a checkpoint but its big arrays (head.c). */
struct head {
    int64_t step, updates, cursor;
    int64_t previous;      /* updates in the array "previous"; -1: there is none */
    int64_t serial, piece; /* see struct store */
    int64_t n_params;
    int64_t n_state, n_config, n_tensors; /* items of the small columns */
    struct identity id;
};
struct head_data {
    double *state; /* [n_state] */
    char *config;  /* [n_config] and a NUL */
};

/* Read and check it, by one rank alone: FAULT_FILE if it can't be opened, FAULT_DATA if
 * it isn't a complete checkpoint.  `data` may be NULL; give back with head_data_free.
 */
int head_read(struct head *out, const char *path, struct head_data *data,
              struct fault *f);
void head_data_free(struct head_data *d);

/* The small columns: made by the draft's ranks, written from rank 0's k, checksummed.
 * Between the two comes an agreement. */
struct small;
int head_columns_new(struct small **out, const struct head *head,
                     const struct checkpoint *k, struct fault *f);
void head_columns_free(struct small *s);
void head_create(struct draft *d, const struct head *head, struct small *s);
void head_write_all(struct draft *d, const struct head *head, const struct small *s);

/* Checksum of piece number `piece`, n values. */
static inline uint64_t piece_sum(const float *x, int64_t n, int64_t piece)
{
    return hash64(x, (size_t)n * sizeof *x, (unsigned long long)piece);
}
/* Values [first, end) of a big array, piece by piece and each against its checksum
 * (sums[0] is that of the piece that begins at `first`): every piece to its place in x
 * if `whole`, x being value 0's, else all of them to x.  Returns where the first piece
 * begins that is not what was written, `end` if all are; HDF5's failures are in h. */
int64_t head_read_pieces(struct h5 *h, hid_t column, const struct head *head,
                         int64_t first, int64_t end, const uint64_t *sums, float *x,
                         bool whole);

/* A column of a step file is checked by the sum, modulo 2^64, over its chunks that
 * begin at items `at`: its completions' tokens or answer bytes, or all of it at once.
 */
static inline uint64_t chunk_sum(const void *data, size_t bytes, int64_t at)
{
    return bytes ? hash64(data, bytes, (unsigned long long)at) : 0;
}
/* The pieces rank r of `ranks` writes or reads: values [*first, return value). */
int64_t head_share(const struct head *head, int r, int ranks, int64_t *first);
/* Their number in the whole array. */
int64_t head_pieces(const struct head *head);

/* The parcels of a checkpoint (parcels.c): where each lies, the same on all ranks. */
struct parcels {
    int64_t n, *offset; /* [n + 1] bytes */
    bool learners;      /* nobody else brings any */
    hid_t column[3];
    const struct parcel *mine;
    int n_mine;
};
/* FAULT_BUG unless the ranks bring the numbers 0, 1, ... once each.  `rc` is what this
 * rank has to report so far; it is agreed on.  Give back with parcels_free_layout,
 * whatever it said. */
int parcels_layout_all(struct parcels *out, struct comm *c, const struct checkpoint *k,
                       int rc, struct fault *f);
void parcels_free_layout(struct parcels *p);
/* Made by the draft's ranks, each writes its own; between the two comes an agreement.
 */
void parcels_create(struct draft *d, struct parcels *p);
void parcels_write(struct draft *d, const struct parcels *p);
/* By one rank alone: those it wants, into new memory; with `want` NULL all are read
 * against their checksums and none is kept.  *total is how many the file has. */
int parcels_read(const char *path, struct parcel *want, int n, int64_t *total,
                 struct fault *f);

#define BIG 4 /* "params", "moment1", "moment2", "previous" */
extern const char *const head_big[BIG], *const head_sums[BIG];
/* How many of them the checkpoint has: all, or all but the last. */
int head_arrays(const struct head *head);

#endif
