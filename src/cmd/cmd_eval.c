/* cmd_eval.c - dapo eval JOB.ini: one JSON object on standard output. */
#include <inttypes.h>
#include <stdio.h>

#include "cmd/cmd.h"
#include "dapo/mem.h"
#include "dapo/train.h"

int cmd_eval_all(struct cmd_env *e, struct fault *f)
{
    struct eval_result r = {0};
    const char *rows = NULL;
    int rc = cmd_option(e, "--out", &rows, f);

    if (!rc)
        rc = cmd_rest(e, 0, 0, f);
    if (!rc && rows && comm_rank(e->comm) == 0)
        rc = file_publishable(rows, f);
    rc = comm_agree_all(e->comm, rc, f);
    if (!rc)
        rc = train_evaluate_all(e->comm, &e->cfg, rows, &r, f);
    /* Also where the rows could not be written after all. */
    if (r.completions && comm_rank(e->comm) == 0)
        printf("{\"problems\": %" PRId64 ", \"samples\": %" PRId64
               ", \"average_at_n\": %.6f, \"pass_at_n\": %.6f, \"found_rate\": %.6f, "
               "\"truncated_rate\": %.6f, \"mean_tokens\": %.2f, \"seconds\": %.2f}\n",
               r.problems, e->cfg.eval.samples, r.average_at_n, r.pass_at_n,
               r.found_rate, r.truncated_rate, r.mean_tokens, r.seconds);
    return rc;
}
