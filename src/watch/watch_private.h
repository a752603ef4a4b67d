/* watch_private.h - private: what the parts of watch share. */
#ifndef DAPO_WATCH_PRIVATE_H
#define DAPO_WATCH_PRIVATE_H

#include "dapo/pulse.h"
#include "dapo/watch.h"

/* squeue's %L, "D-HH:MM:SS", "HH:MM:SS", "MM:SS" or "MM", in seconds; INFINITY for
 * "UNLIMITED" and what else is no time. */
double site_seconds(const char *text);

/* -- pmix.c ------------------------------------------------------------------------ */
/* Fill in what PMIx knows; after MPI has started. */
void pmix_facts(struct site *out);
/* Log what happens to peers.  Returns whether the launcher offers such events. */
bool pmix_watch(void);
void pmix_unwatch(void);
/* End the whole job with this status; returns if PMIx can't. */
void pmix_end_job(int status, const char *why);

/* -- words.c ----------------------------------------------------------------------- */
struct words {
    int32_t rank, pid;
    int32_t phase, n_rows;
    int64_t generates;
    int64_t step, tick;
    uint64_t beats;
    int64_t seconds; /* wall clock when the last sign of life was noted */
    char host[64];
    int64_t rows[WATCH_PROMPTS];
};
/* Open or make RUN/words; -1 with errno. */
int words_open(const char *dir);
/* Write a rank's record, read one; 0 or -1. */
int words_put(int fd, const struct words *w);
int words_get(int fd, int rank, struct words *w);

/* -- deaths.c ---------------------------------------------------------------------- */
/* From now on a crash of this process leaves its prompts in DIR/deaths, as one of this
 * job, whose number is the same on all ranks: what they leave is one death. */
void deaths_catch(const char *dir, int rank, int64_t number);
void deaths_uncatch(void);
/* Note that a rank was silent when the job was ended. */
void deaths_note(const char *dir, const struct words *w);
/* The rows that watch_generating said last. */
int deaths_rows(int64_t rows[WATCH_PROMPTS]);

#endif
