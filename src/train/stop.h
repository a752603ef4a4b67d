/* stop.h - private: when, why and how fast a run stops before its end; what it avoids.
 *
 * Reasons are a signal, the file RUN/stop, and time: the allocation's end or
 * train.max_hours.  The root looks at every tick, so that generation ends at the next
 * slice of all ranks together; the step in flight is dropped (its draws repeat on
 * resume, so nothing else would change the bits less), weights and optimizer are saved.
 */
#ifndef DAPO_TRAIN_STOP_H
#define DAPO_TRAIN_STOP_H

#include "train/session.h"

enum stop_why { STOP_NOT, STOP_SIGNAL, STOP_FILE, STOP_TIME };
const char *stop_text(enum stop_why why); /* "on request" ... */

/* Start the watch in the run directory: it knows of the time left, the file stop, and
 * hangs (train.watchdog_s, train.max_hours). */
int stop_watch_all(struct session *s, const char *dir, struct fault *f);

/* A signal came to this rank. */
bool stop_requested(void);
/* Root: the run is to stop now, if `more` seconds of work come before the next chance;
 * anywhere else: a signal came. */
enum stop_why stop_due(struct session *s, double more);
/* The gravest reason of any rank, on every rank. */
enum stop_why stop_agreed_all(struct session *s, double more);
/* Whether the time left is enough for a save.  Agreed. */
bool stop_may_save_all(struct session *s);
/* Before the first save its time is that of its bytes at the rate of a 16 MiB probe in
 * the run directory; measured only if there is a limit. */
int stop_measure_all(struct session *s, const char *dir, struct fault *f);

/* Prompts set aside because ranks died over them (train.poison_deaths), kept in
 * RUN/poison; read, found and reported by the root.  After resuming. */
int poison_load(struct session *s, const char *dir, struct fault *f);
bool poison_has(const struct session *s, int64_t row);

#endif
