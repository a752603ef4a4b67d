/* pulse.h - what this process is doing and that it gets on, for the watchdog.
 *
 * One word for the whole process, as of its log: it may be read by another thread.
 */
#ifndef DAPO_PULSE_H
#define DAPO_PULSE_H

#include <stdint.h>

/* X(name, printed) */
#define PHASE_LIST(X)           \
    X(START, "start")           \
    X(LOAD, "load")             \
    X(RESUME, "resume")         \
    X(EVALUATE, "evaluate")     \
    X(GENERATE, "generate")     \
    X(DELIVER, "deliver")       \
    X(LEARN, "learn")           \
    X(PUBLISH, "publish")       \
    X(STEP_FILE, "step file")   \
    X(CHECKPOINT, "checkpoint") \
    X(END, "end")
enum phase {
#define X(name, text) PHASE_##name,
    PHASE_LIST(X)
#undef X
        PHASE_COUNT
};
const char *phase_text(enum phase p);

/* Enter a phase of a step. */
void pulse_phase(enum phase p, int64_t step);
/* Something was done: a slice, a microbatch, a message that came, a piece written.
 * Waiting is no progress. */
void pulse_beat(void);
/* A tick was reported or answered; none yet (-1) when a step begins. */
void pulse_tick(int64_t number);

struct pulse {
    enum phase phase;
    int64_t step, tick;
    uint64_t beats;
};
struct pulse pulse_now(void);

#endif
