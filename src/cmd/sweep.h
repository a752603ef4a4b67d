/* sweep.h - private: settings that take several values, for simulate and replay.
 *
 * --sweep KEY=A,B,C, as often as wanted; every combination is one point, the last key
 * running fastest.  A key with a dot is a setting of the job.
 */
#ifndef DAPO_CMD_SWEEP_H
#define DAPO_CMD_SWEEP_H

#include "cmd/cmd.h"

#define SWEEP_AXES 8

struct sweep {
    int n;
    struct sweep_axis {
        char *key, *text; /* text: the values with a NUL behind each */
        const char **value;
        int n;
    } axis[SWEEP_AXES];
};

/* Take every --sweep out of the arguments.  FAULT_USAGE for one without values, a key
 * twice, a key without a dot that is not one of "a|b|c", over a million points. */
int sweep_take(struct sweep *s, struct cmd_env *e, const char *others, struct fault *f);
void sweep_free(struct sweep *s);
int sweep_points(const struct sweep *s);
const char *sweep_value(const struct sweep *s, int axis, int point);
/* The job of a point: env's file with its --set, then the point's settings.  `text`
 * (may be NULL) is read instead of the file, as in config_parse. */
int sweep_config(const struct sweep *s, int point, const struct cmd_env *e,
                 const char *text, struct config *out, struct fault *f);
/* The value at a point of a key without a dot, as a number in [lo, hi]; *value is left
 * alone if the key is not swept. */
int sweep_real(const struct sweep *s, int point, const char *key, double lo, double hi,
               double *value, struct fault *f);

#endif
