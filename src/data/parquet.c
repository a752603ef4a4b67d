/* parquet.c - Parquet by way of pyarrow, in a process of its own.
 *
 * Debian 12 has no package of Arrow's or Parquet's C++ library, and a decoder of our
 * own would mean Thrift, five encodings and four compressions for files that are read
 * once, before the job.  So the well-kept library does it: analysis/parquet_rows.py. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dapo/mem.h"
#include "rows.h"

enum { NO_PYARROW = 3 };

/* The first of the places that is in a folder above the program, its checkout's or its
 * installation's, and allows `mode`.  Writes its path to out[n]. */
static bool find_above(const char *const *place, int mode, char *out, size_t n)
{
    char exe[4096], *slash;
    ssize_t k = readlink("/proc/self/exe", exe, sizeof exe - 1);

    exe[k > 0 ? k : 0] = '\0';
    while ((slash = strrchr(exe, '/'))) {
        *slash = '\0';
        for (int i = 0; place[i]; i++) {
            int len = snprintf(out, n, "%s/%s", exe, place[i]);

            if (len > 0 && (size_t)len < n && !access(out, mode))
                return true;
        }
    }
    return false;
}

static bool find_script(char *out, size_t n)
{
    static const char *const place[] = {"analysis/parquet_rows.py",
                                        "share/dapo/parquet_rows.py", NULL};

    return find_above(place, R_OK, out, n);
}

/* $DAPO_PYTHON, else the one that `make deps` made, else the system's. */
static void find_python(char *out, size_t n)
{
    static const char *const place[] = {"build/venv/bin/python", NULL};
    const char *name = getenv("DAPO_PYTHON");

    if (name && *name)
        snprintf(out, n, "%s", name);
    else if (!find_above(place, X_OK, out, n))
        snprintf(out, n, "/usr/bin/python3");
}

static int spawn(struct parquet *p, int out, const char *script, const char *path)
{
    char *argv[] = {p->python, (char *)script, (char *)path, NULL};
    posix_spawn_file_actions_t to;
    int rc = posix_spawn_file_actions_init(&to);

    if (rc)
        return rc;
    rc = posix_spawn_file_actions_addopen(&to, 0, "/dev/null", O_RDONLY, 0);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&to, out, 1);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(&to, fileno(p->errors), 2);
    if (!rc)
        rc = posix_spawnp(&p->pid, argv[0], &to, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&to);
    return rc;
}

int parquet_start(struct parquet *p, int *out, const char *path, struct fault *f)
{
    char script[4200];
    int ends[2], rc;

    *p = (struct parquet){0};
    if (!find_script(script, sizeof script))
        return fault_set(f, FAULT_FILE,
                         "%s: analysis/parquet_rows.py, which reads Parquet, is not in "
                         "any folder above the program",
                         path);
    find_python(p->python, sizeof p->python);
    p->errors = tmpfile();
    if (!p->errors || pipe2(ends, O_CLOEXEC)) {
        rc = fault_set(f, FAULT_SYSTEM, "%s: no pipe for its rows: %s", path,
                       strerror(errno));
        if (p->errors)
            fclose(p->errors);
        return rc;
    }
    rc = spawn(p, ends[1], script, path);
    close(ends[1]);
    *out = ends[0];
    if (rc) {
        close(ends[0]);
        fclose(p->errors);
        return fault_set(
            f, FAULT_SYSTEM,
            "%s: %s, which reads Parquet, can't be run: %s; set DAPO_PYTHON "
            "to a python3 that has pyarrow",
            path, p->python, strerror(rc));
    }
    return 0;
}

/* The last line the program said, into line[n]. */
static void last_words(FILE *errors, char *line, size_t n)
{
    char now[512];

    snprintf(line, n, "it said nothing");
    rewind(errors);
    while (fgets(now, sizeof now, errors)) {
        now[strcspn(now, "\n")] = '\0';
        if (*now)
            snprintf(line, n, "%.*s", (int)n - 1, now);
    }
}

int parquet_end(struct parquet *p, const char *path, struct fault *f)
{
    char why[256];
    int status, rc = 0;
    pid_t got;

    do
        got = waitpid(p->pid, &status, 0);
    while (got < 0 && errno == EINTR);
    last_words(p->errors, why, sizeof why);
    fclose(p->errors);
    if (got != p->pid)
        rc = fault_set(f, FAULT_SYSTEM, "%s: its reader was lost", path);
    else if (WIFEXITED(status) && WEXITSTATUS(status) == NO_PYARROW)
        rc = fault_set(f, FAULT_SYSTEM,
                       "%s: reading Parquet needs pyarrow, which %s doesn't have; run "
                       "`python3 -m venv V && V/bin/pip install pyarrow` and set "
                       "DAPO_PYTHON=V/bin/python",
                       path, p->python);
    else if (!WIFEXITED(status))
        rc = fault_set(f, FAULT_SYSTEM, "%s: its reader died of signal %d: %s", path,
                       WTERMSIG(status), why);
    else if (WEXITSTATUS(status))
        rc = fault_set(f, FAULT_DATA,
                       "%s: can't be read as Parquet (%s gave status %d): "
                       "%s",
                       path, p->python, WEXITSTATUS(status), why);
    return rc;
}
