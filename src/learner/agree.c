/* agree.c - one learner's failure is every learner's. */
#include <string.h>

#include "dapo/mem.h"
#include "dapo/learner.h"

/* Nonzero, the same for the same sentence, exact in a double. */
static double key_of(const struct fault *f)
{
    return 1 + (double)(hash64(f->text, strlen(f->text), (unsigned)f->code) >> 12);
}

/* Ranks are not known here, so the sentence that wins is not the lowest rank's but the
 * one with the largest key; all who have it send the same bytes, the others zeros. */
int learner_agree_all(const struct learner_reduce *r, int rc, struct fault *f)
{
    double mine = rc ? key_of(f) : 0, most = mine;
    double wire[2 + sizeof f->text] = {0};
    int sum;

    if ((sum = r->max_f64_all(r->ctx, &most, 1, f)) || most == 0)
        return sum;
    if (rc && mine == most) {
        wire[0] = f->code;
        wire[1] = 1 + (f->rank < 0 ? r->rank : f->rank);
        for (size_t i = 0; f->text[i]; i++)
            wire[2 + i] = (unsigned char)f->text[i];
    }
    if ((sum = r->max_f64_all(r->ctx, wire, sizeof wire / sizeof wire[0], f)))
        return sum;
    for (size_t i = 0; i < sizeof f->text; i++)
        f->text[i] = (char)(unsigned char)wire[2 + i];
    f->text[sizeof f->text - 1] = '\0';
    f->code = (int)wire[0];
    f->rank = (int)wire[1] - 1;
    return f->code;
}
