/* wire.h - private: what a tick carries. */
#ifndef DAPO_TRAIN_WIRE_H
#define DAPO_TRAIN_WIRE_H

#include <stdint.h>

/* Leader to root: a header, then events. */
struct report_head {
    int32_t stop;   /* this rank was asked to stop */
    int32_t failed; /* this rank has a fault and generates no more */
    /* What the slice was: decode iterations, and busy slots summed over them. */
    int32_t iterations, slot_iterations;
};
enum event_kind { EVENT_FINISHED, EVENT_CUT };
struct report_event {
    int64_t index;
    int32_t member, kind, correct, tokens, n_prompt;
};

/* Root to leaders: a header, then starts, then indices to cancel. */
struct decision_head {
    int32_t end, n_start, n_cancel;
};
struct decision_start {
    int64_t index, row; /* candidate number, row of the prompt file */
    int32_t replica;
    int32_t fails; /* its prompt is set aside: not to be generated */
};

#endif
