/* cmd_score.c - dapo score MODEL: log-probs of given ids, and the likeliest others. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>

#include "cmd/cmd.h"
#include "dapo/mem.h"
#include "dapo/model.h"
#include "dapo/text.h"

struct job {
    struct engine g;
    int64_t top;
    struct ids ids;
    int *at, *best; /* rows of the forward; [top] */
    float *logp, *best_logp;
    size_t room, room_logp;
    struct bytes out; /* a line is printed whole or not at all */
};

static int grow(struct job *j, struct fault *f)
{
    void *at = j->at, *logp = j->logp;
    int rc = mem_grow(&at, &j->room, j->ids.n, sizeof *j->at, "a sequence", f);

    j->at = at;
    if (!rc)
        rc = mem_grow(&logp, &j->room_logp, j->ids.n, sizeof *j->logp, "a sequence", f);
    j->logp = logp;
    return rc;
}

/* "%.9g" gives a float back to the bit; JSON has no infinity. */
static int put(struct job *j, const char *before, float x, struct fault *f)
{
    if (!isfinite(x))
        return fault_set(f, FAULT_DATA, "the model's log-probs are not finite");
    return bytes_printf(&j->out, f, "%s%.9g", before, (double)x);
}

static int put_top(struct job *j, int row, struct fault *f)
{
    int rc = model_top(j->g.model, row, (int)j->top, j->best, j->best_logp, f);

    if (!rc)
        rc = bytes_printf(&j->out, f, row ? ", [" : "[");
    for (int i = 0; i < j->top && !rc; i++) {
        rc = bytes_printf(&j->out, f, i ? "], [%d" : "[%d", j->best[i]);
        if (!rc)
            rc = put(j, ", ", j->best_logp[i], f);
    }
    return rc ? rc : bytes_printf(&j->out, f, "]]");
}

static int put_line(struct job *j, struct fault *f)
{
    int n = (int)j->ids.n, rc;

    j->out.len = 0;
    rc = bytes_printf(&j->out, f, "{\"logprobs\": [%s", n ? "null" : "");
    for (int i = 0; i + 1 < n && !rc; i++)
        rc = put(j, ", ", j->logp[i], f);
    if (!rc && j->top)
        rc = bytes_printf(&j->out, f, "], \"top\": [");
    for (int i = 0; i < n && j->top && !rc; i++)
        rc = put_top(j, i, f);
    if (!rc)
        rc = bytes_printf(&j->out, f, "]}\n");
    if (!rc)
        fwrite(j->out.data, 1, j->out.len, stdout);
    return rc;
}

static int score(void *job, const json_t *line, struct fault *f)
{
    struct job *j = job;
    struct model *m = j->g.model;
    int start[2] = {0}, n, rc;

    j->ids.n = 0;
    if ((rc = json_ids(line, model_real_vocab(m), &j->ids, f)))
        return rc;
    if (j->ids.n > (size_t)model_cfg(m)->max_position)
        return fault_set(f, FAULT_DATA,
                         "has %zu ids, but the model has only %d positions", j->ids.n,
                         model_cfg(m)->max_position);
    n = start[1] = (int)j->ids.n;
    if (n == 0)
        return put_line(j, f);
    if ((rc = grow(j, f)))
        return rc;
    for (int i = 0; i < n; i++)
        j->at[i] = i;
    rc = model_forward(m, &(struct pack){n, 1, j->ids.id, start}, f);
    if (!rc)
        rc = model_head(m, j->at, j->ids.id + 1, n - 1, 1.0f, j->logp, NULL, NULL, NULL,
                        f);
    return rc ? rc : put_line(j, f);
}

static int open_top(struct job *j, struct fault *f)
{
    if (j->top > model_real_vocab(j->g.model))
        return fault_set(f, FAULT_USAGE, "--top %d: the model has only %d tokens",
                         (int)j->top, model_real_vocab(j->g.model));
    j->best = mem_new((size_t)j->top, sizeof *j->best, "the likeliest", f);
    j->best_logp = mem_new((size_t)j->top, sizeof *j->best_logp, "the likeliest", f);
    return j->best && j->best_logp ? 0 : f->code;
}

int cmd_score(struct cmd_env *e, struct fault *f)
{
    struct job j = {0};
    int rc = cmd_int(e, "--top", 0, 1 << 24, &j.top, f);

    if (!rc)
        rc = engine_options(&j.g, e, f);
    if (!rc)
        rc = cmd_rest(e, 1, 1, f);
    if (!rc)
        rc = engine_open(&j.g, e->argv[0], false, f);
    if (!rc)
        rc = open_top(&j, f);
    if (!rc)
        rc = lines_each(score, &j, f);
    engine_close(&j.g);
    ids_free(&j.ids);
    bytes_free(&j.out);
    free(j.at);
    free(j.logp);
    free(j.best);
    free(j.best_logp);
    return rc;
}
