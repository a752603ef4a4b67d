/* random.c - Philox4x32-10 and what is made of it. */
#include <math.h>

#include "dapo/random.h"

void philox4x32(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t c0 = counter[0], c1 = counter[1], c2 = counter[2], c3 = counter[3];
    uint32_t k0 = key[0], k1 = key[1];

    for (int round = 0; round < 10; round++) {
        uint64_t p0 = (uint64_t)0xD2511F53u * c0, p1 = (uint64_t)0xCD9E8D57u * c2;
        uint32_t n0 = (uint32_t)(p1 >> 32) ^ c1 ^ k0;
        uint32_t n2 = (uint32_t)(p0 >> 32) ^ c3 ^ k1;

        c1 = (uint32_t)p1;
        c3 = (uint32_t)p0;
        c0 = n0;
        c2 = n2;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    out[0] = c0;
    out[1] = c1;
    out[2] = c2;
    out[3] = c3;
}

static void draw(uint64_t seed, enum random_use use, uint32_t a, uint32_t b, uint32_t c,
                 uint32_t d, uint32_t out[4])
{
    uint32_t counter[4] = {a, b, c, d};
    /* The use goes into the high key word's top byte, where a user's seed seldom is. */
    uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32) ^ ((uint32_t)use << 24)};

    philox4x32(counter, key, out);
}

float random_uniform(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d)
{
    uint32_t r[4];

    draw(seed, use, a, b, c, d, r);
    return (float)(r[0] >> 8) * 0x1p-24f;
}

uint64_t random_bits(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d)
{
    uint32_t r[4];

    draw(seed, use, a, b, c, d, r);
    return (uint64_t)r[1] << 32 | r[0];
}

uint64_t random_below(uint64_t n, uint64_t seed, enum random_use use, uint32_t a,
                      uint32_t b, uint32_t c, uint32_t d)
{
    __extension__ typedef unsigned __int128 wide;

    return (uint64_t)(((wide)random_bits(seed, use, a, b, c, d) * n) >> 64);
}

double random_normal(uint64_t seed, enum random_use use, uint32_t a, uint32_t b,
                     uint32_t c, uint32_t d)
{
    const double pi = 3.14159265358979323846;
    uint32_t r[4];
    double u, v;

    draw(seed, use, a, b, c, d, r);
    u = ((double)r[0] + 1.0) * 0x1p-32; /* in (0, 1]: its logarithm is finite */
    v = (double)r[1] * 0x1p-32;
    return sqrt(-2.0 * log(u)) * cos(2.0 * pi * v);
}
