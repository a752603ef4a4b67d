/* main.c - dapo COMMAND [ARGUMENTS] [--set section.key=value]... */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "dapo/log.h"
#include "dapo/train.h"

static const struct command {
    const char *name;
    int (*run)(struct cmd_env *, struct fault *);
    int flags;
    const char *usage, *text;
} commands[] = {
#define COMMAND(name, function, flags, usage, text) \
    {name, function, flags, usage, text},
#include "cmd/cmd.def"
#undef COMMAND
};
#define N_COMMANDS (sizeof commands / sizeof commands[0])

static const struct option {
    const char *command, *name, *text;
} options[] = {
#define OPTION(command, name, text) {command, name, text},
#include "cmd/options.def"
#undef OPTION
};
#define N_OPTIONS (sizeof options / sizeof options[0])

static const struct command *find(const char *name)
{
    for (size_t i = 0; name && i < N_COMMANDS; i++)
        if (!strcmp(commands[i].name, name))
            return &commands[i];
    return NULL;
}

static void explain(const struct command *c)
{
    bool any = false;

    printf("usage: dapo %s %s\n\n%s\n", c->name, c->usage, c->text);
    for (size_t i = 0; i < N_OPTIONS; i++) {
        bool job = !strcmp(options[i].command, "*") && c->flags & (CMD_JOB | CMD_SET);

        if (!job && strcmp(options[i].command, c->name))
            continue;
        printf("%s  %-26s %s\n", any ? "" : "\noptions:\n", options[i].name,
               options[i].text);
        any = true;
    }
    if (c->flags & (CMD_JOB | CMD_SET))
        printf("\nSettings and their meaning: dapo config\n");
}

int cmd_help(struct cmd_env *e, struct fault *f)
{
    int rc = cmd_rest(e, 0, 1, f);
    const struct command *c = e->argc > 0 ? find(e->argv[0]) : NULL;

    if (rc)
        return rc;
    if (e->argc > 0 && !c)
        return fault_set(f, FAULT_USAGE, "there is no command %.60s; try dapo help",
                         e->argv[0]);
    if (c) {
        explain(c);
        return 0;
    }
    printf("dapo - reinforcement learning of language models as a plain MPI job\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-10s %s\n", commands[i].name, commands[i].text);
    printf("\ndapo help COMMAND explains a command and its options.\n\nexit status:\n");
#define X(name, status, text) printf("  %-10d %s\n", status, text);
    FAULT_LIST(X)
#undef X
    return 0;
}

/* Read the job file named first, with the overrides. */
static int read_job(struct cmd_env *e, bool may_lack, struct fault *f)
{
    bool given = e->argc > 0 && e->argv[0][0] != '-';

    if (given) {
        e->job = e->argv[0];
        e->argc--;
        e->argv++;
    } else if (!may_lack) {
        return fault_set(f, FAULT_USAGE,
                         "dapo %s needs a job file first; see dapo help %s", e->name,
                         e->name);
    }
    return config_read(&e->cfg, e->job, e->set, e->n_set, f);
}

/* Take every "--set X" out of the arguments. */
static int take_overrides(struct cmd_env *e, struct fault *f)
{
    char **set = calloc((size_t)e->argc + 1, sizeof *set);
    int n = 0, rc = 0;

    if (!set)
        return fault_set(f, FAULT_SYSTEM, "no memory for the arguments");
    for (const char *value; !rc; n++) {
        rc = cmd_option(e, "--set", &value, f);
        if (rc || !value)
            break;
        set[n] = strdup(value);
        if (!set[n])
            rc = fault_set(f, FAULT_SYSTEM, "no memory for the arguments");
    }
    e->set = (const char *const *)set;
    e->n_set = n;
    return rc;
}

static int run_all(struct cmd_env *e, const struct command *c, struct fault *f)
{
    int rc = 0;

    if (c->flags & (CMD_JOB | CMD_SET))
        rc = take_overrides(e, f);
    if (!rc && c->flags & CMD_JOB)
        rc = read_job(e, c->flags & CMD_FREE, f);
    if (e->comm)
        rc = comm_agree_all(e->comm, rc, f);
    if (!rc && c->flags & CMD_JOB)
        log_open(e->comm ? comm_rank(e->comm) : -1, (enum log_level)e->cfg.run.log);
    if (!rc)
        rc = c->run(e, f);
    return rc;
}

static void report(const struct cmd_env *e, int rc, const struct fault *f)
{
    if (!rc || (e->comm && comm_rank(e->comm) != 0))
        return;
    fflush(stdout);
    if (f->rank >= 0)
        fprintf(stderr, "dapo: rank %d: %s (%s)\n", f->rank, f->text, fault_text(rc));
    else
        fprintf(stderr, "dapo: %s (%s)\n", f->text, fault_text(rc));
}

/* Started with a standard stream closed, the next file opened would take its place, and
 * be written over by whatever is printed.  What fills the place can't be used, so that
 * printing there still fails. */
static void keep_streams(void)
{
    for (int fd = 0; fd <= 2; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
            _exit(FAULT_SYSTEM);
}

static bool asks_help(const char *s)
{
    return !strcmp(s, "--help") || !strcmp(s, "-h");
}

int main(int argc, char **argv)
{
    struct fault f = FAULT_INIT;
    struct cmd_env e = {.name = argc > 1 ? argv[1] : "help"};
    const struct command *c;
    int rc;

    keep_streams();
    if (asks_help(e.name))
        e.name = "help";
    if (argc == 3 && asks_help(argv[2]) && find(e.name)) { /* dapo COMMAND --help */
        argv[2] = argv[1];
        e.name = "help";
    }
    c = find(e.name);
    if (!c) {
        fprintf(stderr, "dapo: there is no command %.60s; try dapo help (%s)\n", e.name,
                fault_text(FAULT_USAGE));
        return FAULT_USAGE;
    }
    signal(SIGPIPE, SIG_IGN); /* a closed pipe is a fault like others, */
    signal(SIGXFSZ, SIG_IGN); /* and so is a file that may not get as long */
    if (c->flags & CMD_STOPS)
        train_catch_signals();
    if (c->flags & CMD_MPI)
        comm_open_all(&e.comm, &argc, &argv);
    e.argc = argc > 2 ? argc - 2 : 0;
    e.argv = argv + (argc > 2 ? 2 : argc);
    log_open(e.comm ? comm_rank(e.comm) : -1, LOG_INFO);
    rc = run_all(&e, c, &f);
    if (!rc && fflush(stdout) | ferror(stdout))
        rc = cmd_written(&f);
    report(&e, rc, &f);
    for (int i = 0; i < e.n_set; i++)
        free((char *)(size_t)e.set[i]);
    free((void *)(size_t)e.set);
    comm_close_all(e.comm);
    return rc;
}
