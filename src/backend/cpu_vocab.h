/* cpu_vocab.h - private: one row of logits, for log-probabilities and the sampler. */
#ifndef DAPO_BACKEND_CPU_VOCAB_H
#define DAPO_BACKEND_CPU_VOCAB_H

/* Values summed in f32 before they join a double: large vocabularies lose nothing. */
#define SOFT_BLOCK 256

/* With z = (x - most) / temperature: sum of e^z and of z e^z. */
struct soft {
    float most, temperature;
    double sum, mean;
};

/* The largest of n values, NaN apart. */
float cpu_row_most(const float *x, int n);

/* NULL to skip: e[n] takes each e^z, sums[(n + SOFT_BLOCK - 1) / SOFT_BLOCK] the sum of
 * each block of them. */
struct soft cpu_row_soft(const float *x, int n, float temperature, float *e,
                         double *sums);

/* Log-probability of a value with the logit x. */
float cpu_soft_logp(const struct soft *s, float x);

#endif
