/* random.h - counter-based random numbers: Philox4x32-10.
 *
 * A draw is a pure function of (key, counter), so a token's draw does not depend on
 * what else was drawn before, on which rank, or in what order.
 * Source: Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011;
 * known answers from Random123's kat_vectors.
 */
#ifndef DAPO_RANDOM_H
#define DAPO_RANDOM_H

#include <stdint.h>

void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* What a draw is for; part of the key, so streams of different use never meet. */
enum random_use {
    RANDOM_SAMPLE = 1, /* tokens: (step, candidate, member, position) */
    RANDOM_ORDER,      /* prompt permutations: (epoch, 0, i, 0) */
    RANDOM_SPLIT,      /* dev split */
    RANDOM_TASK,       /* generated problems */
    RANDOM_INIT,       /* random weights */
    RANDOM_EVAL,       /* evaluation: (step, problem, repeat, position) */
    RANDOM_BATCH,      /* order of supervised examples */
    RANDOM_TEST,
    RANDOM_SIM,  /* simulated completions: (number, number >> 32, what, draw) */
    RANDOM_MATH, /* points at which answers are compared */
    RANDOM_LORA  /* a fresh adapter: (tensor, element, element >> 32, 0) */
};

/* Uniform in [0, 1), 24 random bits: exactly representable as float. */
float random_uniform(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d);
/* 64 random bits of the same stream. */
uint64_t random_bits(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d);
/* Uniform integer in [0, n), n >= 1, without modulo bias beyond 2^-32 * n / 2^32. */
uint64_t random_below(uint64_t n, uint64_t seed, enum random_use use, uint32_t a,
                      uint32_t b, uint32_t c, uint32_t d);
/* Standard normal (Box-Muller on the two halves of one draw). */
double random_normal(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d);

#endif
