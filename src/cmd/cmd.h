/* cmd.h - private: the table of subcommands and what they share.
 *
 * A command is one file, cmd_<name>.c, with one function and one row in cmd.def; each
 * of its options is a row in options.def.  What it prints on standard output is its
 * result.
 */
#ifndef DAPO_CMD_H
#define DAPO_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "dapo/comm.h"
#include "dapo/config.h"
#include "dapo/fault.h"

enum cmd_flags {
    CMD_LOCAL = 0,
    CMD_MPI = 1,   /* collective: MPI is started first, faults are agreed on last */
    CMD_JOB = 2,   /* first argument is a job file, read into env->cfg with --set */
    CMD_SET = 8,   /* takes --set, which the command applies to a job it finds itself */
    CMD_FREE = 16, /* the job file may be left out: settings have their defaults */
    CMD_STOPS = 4, /* a signal asks it to stop, from its first moment on */
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
 * Take "--name VALUE", "--name=VALUE" (or a bare "--name") out of env->argv: the value,
 * or NULL if it is not there.  cmd_int and cmd_real check the range and leave *value
 * alone if the option is absent; cmd_choice sets the number of one of "a|b|c" likewise.
 * After taking all options call cmd_rest to refuse what is left beyond `most` plain
 * arguments; fewer than `least` is an error too.  All return 0 or FAULT_USAGE. */
int cmd_option(struct cmd_env *e, const char *name, const char **value,
               struct fault *f);
bool cmd_flag(struct cmd_env *e, const char *name);
int cmd_int(struct cmd_env *e, const char *name, int64_t lo, int64_t hi, int64_t *value,
            struct fault *f);
int cmd_real(struct cmd_env *e, const char *name, double lo, double hi, double *value,
             struct fault *f);
int cmd_choice(struct cmd_env *e, const char *name, const char *choices, int *value,
               struct fault *f);
int cmd_rest(const struct cmd_env *e, int least, int most, struct fault *f);

/* -- lines in, lines out --------------------------------------------------------------
 * FAULT_FILE if standard output can't be written (a closed pipe, a full disk): for
 * commands that would go on for nothing. */
int cmd_written(struct fault *f);

struct json_t;

/* JSON lines of standard input, or of a file. */
struct lines {
    FILE *in;
    const char *name; /* for messages; NULL: "standard input" */
    long number;      /* of the line last read, from 1 */
    char *text;
    size_t cap;
};
/* The next line as JSON in *out (the caller's), NULL at the end.  FAULT_DATA with the
 * line number for what is no JSON, an empty line or one of over 64 MiB. */
int lines_next(struct lines *l, struct json_t **out, struct fault *f);
void lines_free(struct lines *l);
/* Give each line of standard input to `take`, whose faults get its number, and see that
 * what it printed was written. */
int lines_each(int (*take)(void *context, const struct json_t *line, struct fault *f),
               void *context, struct fault *f);
/* Put "NAME: line N: " before *f's sentence and make it FAULT_DATA, unless
 * the fault is the system's; returns its code. */
int lines_fault(const struct lines *l, struct fault *f);

struct ids;

/* The list {"ids": [...]} or [...] appended to *out; each must be in [0, vocab).
 * FAULT_DATA without a line number. */
int json_ids(const struct json_t *line, int vocab, struct ids *out, struct fault *f);

/* -- a model for commands without a job -----------------------------------------------
 */
struct engine {
    const struct backend *backend;
    struct tokenizer *tok; /* NULL if the folder has none and none was required */
    struct model *model;
    /* options */
    const char *name, *adapter;
    int compute;
    int64_t threads;
};
/* Take --backend, --adapter, --compute and --threads. */
int engine_options(struct engine *g, struct cmd_env *e, struct fault *f);
/* Open backend, tokenizer and model of the folder `dir`. */
int engine_open(struct engine *g, const char *dir, bool need_tokenizer,
                struct fault *f);
void engine_close(struct engine *g);

#endif
