/* recorded.h - private: recorded pass rates and lengths, from files. */
#ifndef DAPO_SIM_RECORDED_H
#define DAPO_SIM_RECORDED_H

#include <stddef.h>
#include "dapo/fault.h"

/* {"prompt": [accuracy at each visit], ...} in the file's order. */
struct rates {
    size_t n;      /* prompts */
    size_t *first; /* [n + 1] where each one's visits begin */
    double *value; /* accuracies in [0, 1] */
    int size;      /* smallest k <= 64 of which all are multiples of 1/k; 0: none */
};
/* FAULT_FILE, FAULT_DATA with the path and the prompt. */
int rates_read(struct rates *out, const char *path, struct fault *f);
void rates_free(struct rates *r);

/* One problem's samples. */
struct samples {
    double rate;  /* share of right ones */
    size_t first; /* [first, first + n): the right ones, then the others */
    size_t n, right;
};
struct lengths {
    size_t n;             /* problems, by ascending rate */
    struct samples *item; /* [n] */
    int *tokens;
};
int lengths_read(struct lengths *out, const char *path, struct fault *f);
void lengths_free(struct lengths *l);
/* Problems whose rate is nearest to p: [*first, *first + return value). */
size_t lengths_near(const struct lengths *l, double p, size_t *first);

#endif
