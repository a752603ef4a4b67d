/* log.h - events for people, one per line, on stderr (and the run's log.txt).
 *
 * stdout is a command's result, so nothing here writes to it.  A line reads
 *     2026-05-01T12:00:03 I r0003 step=12 groups=512/871
 * Levels by volume: error (never in a clean run), warn, info (a few lines a step, on
 * rank 0), debug (any rank, any number).
 */
#ifndef DAPO_LOG_H
#define DAPO_LOG_H

#include <stdbool.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* Say who speaks (world rank, -1 = no MPI) and how much is let through. */
void log_open(int rank, enum log_level level);
/* Also append every line to the file `path` (rank 0's log.txt); NULL closes it.
 * Returns 0 or -1 with errno. */
int log_tee(const char *path);

/* Write one event.  log_line speaks on any rank, log0_line on rank 0 only (or where
 * there is no MPI). */
void log_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void log0_line(enum log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Progress on rank 0: a bar redrawn in place when stderr is a terminal, otherwise a
 * plain line at most every `log_progress_every` seconds (default 10).  `done` of
 * `total` in units of `what`; `note` (may be NULL) follows the bar.
 * log_progress_end removes the bar. */
void log_progress(const char *what, long done, long total, const char *note);
void log_progress_end(void);

#endif
