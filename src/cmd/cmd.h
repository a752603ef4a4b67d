/* cmd.h - private: the table of subcommands and what they share.
 *
 * A command is one file, cmd_<name>.c, with one function and one row in cmd.def.
 */
#ifndef DAPO_CMD_H
#define DAPO_CMD_H

#include <stdbool.h>
#include "dapo/comm.h"
#include "dapo/config.h"
#include "dapo/fault.h"

enum cmd_flags {
    CMD_LOCAL = 0,
    CMD_MPI = 1, /* collective: MPI is started first, faults are agreed on last */
    CMD_JOB =
        2 /* first argument is a job file, read into env->cfg with --set applied */
};

struct cmd_env {
    const char *name;
    int argc; /* arguments left after the command's name and the common options */
    char **argv;
    struct comm *comm; /* NULL without MPI */
    struct config cfg; /* CMD_JOB */
    const char *job;   /* path of the job file; NULL if none was given */
    const char *const
        *set; /* --set overrides, for commands that read a job themselves */
    int n_set;
};

#define COMMAND(name, function, flags, usage, text) \
    int function(struct cmd_env *e, struct fault *f);
#include "cmd/cmd.def"
#undef COMMAND

/* -- options of a command -------------------------------------------------------------
 * Take "--name VALUE" (or a bare "--name") out of env->argv: the value, or NULL if it
 * is not there.  cmd_int also checks the range.  After taking all options call cmd_rest
 * to refuse what is left beyond `most` plain arguments; fewer than `least` is an error
 * too. All return 0 or FAULT_USAGE. */
int cmd_option(struct cmd_env *e, const char *name, const char **value,
               struct fault *f);
bool cmd_flag(struct cmd_env *e, const char *name);
int cmd_int(struct cmd_env *e, const char *name, long lo, long hi, long *value,
            struct fault *f);
int cmd_real(struct cmd_env *e, const char *name, double lo, double hi, double *value,
             struct fault *f);
int cmd_rest(const struct cmd_env *e, int least, int most, struct fault *f);

/* The log level of --log or run.log takes effect. */
void cmd_log(const struct cmd_env *e);

#endif
