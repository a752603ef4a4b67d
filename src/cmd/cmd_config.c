/* cmd_config.c - dapo config [JOB.ini]: the resolved settings. */
#include <stdio.h>

#include "cmd/cmd.h"
#include "dapo/math.h"

int cmd_config(struct cmd_env *e, struct fault *f)
{
    struct bytes out = {0};
    bool bare = cmd_flag(e, "--bare");
    int rc = cmd_rest(e, 0, 0, f);

    if (!rc)
        rc = config_print(&e->cfg, !bare, &out, f);
    if (!rc && !bare)
        printf("# grader = math by %s\n", math_libraries());
    if (!rc)
        fputs(out.data, stdout);
    bytes_free(&out);
    return rc;
}
