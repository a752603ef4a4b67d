/* fail_alloc.c - preloaded: one allocation of the program on one rank fails.
 *
 * Counts the calls of malloc, calloc and realloc made by the program itself (not by its
 * libraries), from when the file FAIL_AFTER, if given, is there.  FAIL_RANK's call
 * number FAIL_AT (from 1) returns NULL; at the end FAIL_COUNT.<rank> gets the number of
 * calls.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uintptr_t low, high; /* of the program's text */
static long calls, fail_at;
static const char *rank = "0", *count_to, *after;

static int find_text(struct dl_phdr_info *info, size_t size, void *unused)
{
    (void)size, (void)unused;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            low = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            high = low + info->dlpi_phdr[i].p_memsz;
        }
    return 1; /* the first object is the program */
}

__attribute__((constructor)) static void set_up(void)
{
    const char *at = getenv("FAIL_AT"), *who = getenv("FAIL_RANK");

    if (getenv("OMPI_COMM_WORLD_RANK"))
        rank = getenv("OMPI_COMM_WORLD_RANK");
    count_to = getenv("FAIL_COUNT");
    after = getenv("FAIL_AFTER");
    if (at && who && !strcmp(who, rank))
        fail_at = strtol(at, NULL, 10);
    dl_iterate_phdr(find_text, NULL);
}

__attribute__((destructor)) static void tear_down(void)
{
    char path[4096];
    FILE *out;

    if (!count_to)
        return;
    snprintf(path, sizeof path, "%s.%s", count_to, rank);
    out = fopen(path, "w");
    if (out) {
        fprintf(out, "%ld\n", calls);
        fclose(out);
    }
}

static int fails(void *from)
{
    if ((uintptr_t)from < low || (uintptr_t)from >= high)
        return 0;
    if (after && access(after, F_OK))
        return 0;
    after = NULL;
    errno = ENOMEM;
    return ++calls == fail_at;
}

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

void *malloc(size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t width)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, width);
}

void *realloc(void *p, size_t n)
{
    return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(p, n);
}
