/* cmd_doctor.c - dapo doctor [JOB.ini]: whether a job can run here. */
#include <stdlib.h>

#include "cmd/cmd.h"
#include "dapo/doctor.h"
#include "dapo/mem.h"
#include "dapo/train.h"

#define GIB 1073741824.0
#define MESSAGE 3.0   /* GiB: more than an int counts */
#define LEAST 0.001   /* GiB */
#define MOST 1048576. /* GiB */

int cmd_doctor_all(struct cmd_env *e, struct fault *f)
{
    struct doctor_job job = {.threads = 1};
    struct fault broken = FAULT_INIT;
    bool fast = cmd_flag(e, "--fast");
    double message = MESSAGE;
    const char *dir = NULL;
    char *run = NULL;
    int rc = cmd_option(e, "--dir", &dir, f);

    if (!rc)
        rc = cmd_real(e, "--message", LEAST, MOST, &message, f);
    if (!rc)
        rc = cmd_rest(e, 0, 0, f);
    if (!rc) {
        run = dir      ? path_join(dir, "", f)
              : e->job ? path_join(e->cfg.run.dir, e->cfg.run.name, f)
                       : path_join(".", "", f);
        rc = run ? 0 : f->code;
    }
    rc = comm_agree_all(e->comm, rc, f);
    if (!rc && e->job && train_needs(&e->cfg, comm_size(e->comm), &job, &broken))
        job.broken = &broken;
    job.dir = run;
    if (!rc)
        rc = doctor_run_all(e->comm, &job, fast ? DOCTOR_FAST : DOCTOR_FULL,
                            message * GIB, f);
    free(run);
    return rc;
}
