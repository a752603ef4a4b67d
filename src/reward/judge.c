/* judge.c - verdicts and the overlong penalty. */
#include <string.h>

#include "dapo/reward.h"
#include "dapo/utf8.h"
#include "rules.h"

int reward_judge(enum grader g, int window, const char *gold, const char *text,
                 size_t n, struct verdict *out, struct fault *f)
{
    int (*normal)(const char *, size_t, struct bytes *, struct fault *) =
        g == GRADER_DAPO ? normal_dapo : normal_exact;
    struct bytes want = {0}, got = {0};
    int rc;

    *out = (struct verdict){0};
    if (g == GRADER_DAPO) {
        size_t from = window > 0 ? utf8_tail(text, n, (size_t)window) : 0;

        out->found = line_find(text, from, n, &out->offset, &out->len);
    } else {
        out->found = answer_extract(text, n, window, &out->offset, &out->len);
    }
    if (!out->found)
        return 0;
    rc = normal(gold, strlen(gold), &want, f);
    if (!rc)
        rc = normal(text + out->offset, out->len, &got, f);
    if (!rc)
        out->correct = want.len == got.len && !memcmp(want.data, got.data, got.len) &&
                       (g == GRADER_DAPO || got.len > 0);
    bytes_free(&want);
    bytes_free(&got);
    return rc;
}

double reward_overlong(int64_t len, int64_t limit, int64_t cache, double factor)
{
    int64_t over = len - (limit - cache);

    if (over <= 0)
        return 0.0;
    if (over >= cache)
        return -factor;
    return -(double)over / (double)cache * factor;
}

double reward_overlong_min(double raw, int64_t len, int64_t limit, int64_t cache,
                           double factor)
{
    double penalty = reward_overlong(len, limit, cache, factor);

    return len > limit - cache && penalty < raw ? penalty : raw;
}
