/* reward.h - from a completion's text to a verdict and a number.
 *
 * Extraction, exact comparison after normalisation, the official DAPO grader, and the
 * soft overlong penalty.  Pure and thread-safe; texts are untrusted bytes of any
 * length.
 */
#ifndef DAPO_REWARD_H
#define DAPO_REWARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/fault.h"

/* Version of the grading rules; written into every step file. */
#define REWARD_VERSION "dapo-1/exact-1"

/* X(name, printed) - order of reward.grader's choices. */
#define GRADER_LIST(X)                                                         \
    X(EXACT, "exact") /* \boxed{} or Answer:, normalised text must be equal */ \
    X(DAPO, "dapo")   /* the official grader's rules (REFERENCE 1.1, 5.3) */
enum grader {
#define X(name, text) GRADER_##name,
    GRADER_LIST(X)
#undef X
        GRADER_COUNT
};

struct verdict {
    bool correct, found; /* right; an answer was found at all */
    size_t offset, len;  /* the extracted answer in the response; len 0 if none */
};

/* Last balanced \boxed{...} (or \fbox) in the last `window` code points of text[n]
 * (0 = all of it), else the last "Answer: ..." line; in linear time.  Returns whether
 * one was found. */
bool answer_extract(const char *text, size_t n, int window, size_t *offset,
                    size_t *len);

/* Judge a response against the gold answer.  0 or FAULT_SYSTEM. */
int reward_judge(enum grader g, int window, const char *gold, const char *text,
                 size_t n, struct verdict *out, struct fault *f);

/* The official grader's normalisation of an answer (REFERENCE 1.1, step 3), into out
 * (caller frees with free).  0 or FAULT_SYSTEM. */
int reward_normalize_dapo(const char *answer, size_t n, char **out, struct fault *f);

/* Soft overlong penalty, paper eq. 13, in [-factor, 0]: 0 up to limit - cache, then
 * linear to -factor at limit, -factor beyond.  Lengths in tokens, the stop token
 * counts; 0 < cache <= limit. */
double reward_overlong(int64_t len, int64_t limit, int64_t cache, double factor);

#endif
