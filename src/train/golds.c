/* golds.c - answers of a prompt file that no completion can be right against. */
#include <inttypes.h>
#include <string.h>

#include "dapo/log.h"
#include "dapo/mem.h"
#include "train/session.h"

#define MOST_NAMED 10

struct bad {
    int64_t n;
    struct bytes ids; /* of the first ones */
};

static int add_bad(struct bad *b, const char *id, struct fault *f)
{
    const char *before = b->n ? ", " : "";

    b->n++;
    if (b->n > MOST_NAMED)
        return b->n == MOST_NAMED + 1 ? bytes_add(&b->ids, " ...", 4, f) : 0;
    return bytes_printf(&b->ids, f, "%s%.40s", before, id);
}

static int settle(struct prompt_set *p, const struct session *s, const char *path,
                  const struct bad *b, struct fault *f)
{
    const char *grader = grader_text((enum grader)s->cfg->reward.grader);

    if (s->cfg->data.on_bad_gold == BAD_GOLD_ERROR)
        return fault_set(f, FAULT_DATA,
                         "%s: %" PRId64 " answers are not right by reward.grader = %s "
                         "even against themselves (ids %s); correct them, or choose "
                         "data.on_bad_gold = drop",
                         path, b->n, grader, b->ids.data);
    if (p->n == 0)
        return fault_set(f, FAULT_DATA,
                         "%s: no answer is right by reward.grader = %s even against "
                         "itself (ids %s)",
                         path, grader, b->ids.data);
    log0_line(LOG_WARN,
              "%s: %" PRId64 " answers are not right by grader=%s even against "
              "themselves, %s: ids %s",
              path, b->n, grader,
              s->cfg->data.on_bad_gold == BAD_GOLD_DROP ? "prompts dropped" : "kept",
              b->ids.data);
    return 0;
}

int prompt_set_judge(struct prompt_set *p, const struct session *s, const char *path,
                     struct fault *f)
{
    bool drop = s->cfg->data.on_bad_gold == BAD_GOLD_DROP;
    struct bad b = {0};
    int64_t n = 0;
    int rc = 0;

    for (int64_t i = 0; i < p->n && !rc; i++) {
        const struct prompt *row = &p->file.row[p->kept[i]];
        bool good;

        rc = judge_gold(s->judge, row->answer, strlen(row->answer), &good, f);
        if (!rc && !good)
            rc = add_bad(&b, row->id, f);
        if (good || !drop)
            p->kept[n++] = p->kept[i];
    }
    p->n = n;
    p->bad_gold = b.n;
    if (!rc && b.n)
        rc = settle(p, s, path, &b, f);
    bytes_free(&b.ids);
    return rc;
}
