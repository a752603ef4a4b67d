/* rundir.h - for the tests of store: one folder for all ranks, awkward groups, damage.
 */
#ifndef DAPO_TESTS_RUNDIR_H
#define DAPO_TESTS_RUNDIR_H

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_mpi.h"
#include "dapo/mem.h"
#include "dapo/store.h"

static inline bool root(void)
{
    return comm_rank(check_comm) == 0;
}

/* "TMP/name" on every rank, of rank 0's temporary folder. */
static inline const char *run_path(const char *name)
{
    static char path[4][512];
    static int next;
    char *p = path[next++ % 4];

    memset(p, 0, sizeof path[0]);
    if (root())
        snprintf(p, sizeof path[0], "%s/%s", check_tmp(), name);
    comm_bcast_all(check_comm, SCOPE_WORLD, p, sizeof path[0]);
    return p;
}

static inline const struct identity *identity(void)
{
    static const struct identity id = {
        .config = "00112233445566778899aabbccddeeff",
        .tokenizer = "112233445566778899aabbccddeeff00",
        .data = "2233445566778899aabbccddeeff0011",
        .model = "33445566778899aabbccddeeff001122",
        .grader = "exact-1",
        .build = "test build",
    };

    return &id;
}

/* Whether a path exists, as rank 0 sees it. */
static inline bool exists(const char *path)
{
    struct stat st;
    int64_t there = root() && stat(path, &st) == 0;

    comm_bcast_all(check_comm, SCOPE_WORLD, &there, sizeof there);
    return there;
}

/* Rank 0 turns over the bits of `mask` in the byte at `at` (from the end if < 0). */
static inline void flip(const char *path, long at, int mask)
{
    if (root()) {
        FILE *file = fopen(path, "r+b");
        int c;

        fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
        c = fgetc(file);
        fseek(file, at, at < 0 ? SEEK_END : SEEK_SET);
        fputc(c ^ mask, file);
        fclose(file);
    }
    comm_barrier_all(check_comm);
}

#endif
