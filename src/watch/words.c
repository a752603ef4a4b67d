/* words.c - RUN/words: each rank's last word, in its own record.
 *
 * A record is far below a block, and only its rank writes it; a reader that finds half
 * of one takes it for silence and looks again.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "dapo/mem.h"
#include "watch/watch_private.h"

struct record {
    struct words words;
    uint64_t sum;
};

static uint64_t sum_of(const struct words *w)
{
    return hash64(w, sizeof *w, 0);
}

int words_open(const char *dir)
{
    struct bytes path = {0};
    struct fault f = FAULT_INIT;
    int fd = -1;

    if (!bytes_printf(&path, &f, "%s/words", dir))
        fd = open(path.data, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    bytes_free(&path);
    return fd;
}

int words_put(int fd, const struct words *w)
{
    struct record r = {.words = *w, .sum = sum_of(w)};

    return pwrite(fd, &r, sizeof r, (off_t)w->rank * (off_t)sizeof r) ==
                   (ssize_t)sizeof r
               ? 0
               : -1;
}

int words_get(int fd, int rank, struct words *w)
{
    struct record r;

    if (pread(fd, &r, sizeof r, (off_t)rank * (off_t)sizeof r) != (ssize_t)sizeof r ||
        r.sum != sum_of(&r.words) || r.words.rank != rank)
        return -1;
    *w = r.words;
    return 0;
}
