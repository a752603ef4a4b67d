/* by_hand.h - driving admission by hand: what its unit tests share. */
#ifndef BY_HAND_H
#define BY_HAND_H

#include <stdio.h>

#include "check.h"
#include "dapo/admission.h"

#define ENDLESS INT64_MAX

static inline struct admission_config config(int groups, int size,
                                             int64_t max_candidates)
{
    return (struct admission_config){.groups = groups,
                                     .size = size,
                                     .max_candidates = max_candidates,
                                     .refill = REFILL_STREAM,
                                     .dynamic = true,
                                     .speculation = 1,
                                     .prior_trainable = 0.5,
                                     .prior_weight = 8};
}

static inline struct admission *step(const struct admission_config *c,
                                     int64_t available)
{
    struct fault f = FAULT_INIT;
    struct admission *a;

    CHECK_OK(admission_new(&a, c, &f), &f);
    CHECK_OK(admission_begin(a, available, &f), &f);
    return a;
}

/* Start all it wants; how many that were. */
static inline int launch(struct admission *a)
{
    int64_t index, n = 0;

    while (admission_launch(a, 1, &index)) {
        CHECK_INT(index, admission_started(a) - 1);
        n++;
    }
    return (int)n;
}

/* The members' verdicts of a candidate from `first` on, "1" right, 10 tokens each. */
static inline void give(struct admission *a, int64_t index, int first,
                        const char *verdicts)
{
    struct fault f = FAULT_INIT;

    for (int i = 0; verdicts[i]; i++)
        CHECK_OK(admission_finished(a, index, first + i, verdicts[i] == '1', 10, &f),
                 &f);
}

static inline int cancels(struct admission *a, int64_t *first)
{
    int64_t index;
    int n = 0;

    while (admission_cancel(a, &index))
        if (n++ == 0)
            *first = index;
    return n;
}

/* "0 2 5" of the batch. */
static inline void batch_is(const struct admission *a, const char *want)
{
    char got[256] = "";
    size_t len = 0;
    int n;
    const int64_t *batch = admission_batch(a, &n);

    for (int i = 0; i < n; i++)
        len += (size_t)snprintf(got + len, sizeof got - len, i ? " %lld" : "%lld",
                                (long long)batch[i]);
    CHECK_TEXT(got, want);
}

static inline void closed_is(const struct admission *a, const char *why,
                             int64_t consumed)
{
    CHECK_TEXT(closed_text(admission_closed(a)), why);
    CHECK_INT(admission_consumed(a), consumed);
}

static inline void ledger_is(const struct admission *a, const int64_t want[FATE_COUNT])
{
    int64_t got[FATE_COUNT];

    admission_ledger(a, got);
    for (int i = 0; i < FATE_COUNT; i++)
        check_int(got[i], want[i], fate_text((enum fate)i), __FILE__, __LINE__);
}

#endif
