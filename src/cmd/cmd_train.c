/* cmd_train.c - dapo train JOB.ini, dapo sft JOB.ini. */
#include "cmd/cmd.h"
#include "dapo/train.h"

#include <stdio.h>

int cmd_train_all(struct cmd_env *e, struct fault *f)
{
    const char *resume;
    int rc = cmd_option(e, "--resume", &resume, f);

    if (!rc)
        rc = cmd_rest(e, 0, 0, f);
    if (!rc && resume) {
        snprintf(e->cfg.run.resume, sizeof e->cfg.run.resume, "%s", resume);
        rc = config_check(&e->cfg, f);
    }
    rc = comm_agree_all(e->comm, rc, f);
    return rc ? rc : train_run_all(e->comm, &e->cfg, f);
}

int cmd_sft_all(struct cmd_env *e, struct fault *f)
{
    int rc = comm_agree_all(e->comm, cmd_rest(e, 0, 0, f), f);

    return rc ? rc : train_supervised_all(e->comm, &e->cfg, f);
}
