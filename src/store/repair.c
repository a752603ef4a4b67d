/* repair.c - damaged files set aside, what is derived from the others made anew. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/inspect.h"
#include "dapo/log.h"
#include "dapo/mem.h"
#include "store/rundir.h"

static int set_aside(const struct store *s, const char *file, struct fault *f)
{
    char *damaged = path_join(s->dir, "damaged", f);
    char *from = path_join(s->dir, file, f), *to = NULL, *folder = NULL;
    int rc = damaged && from ? 0 : f->code;

    if (!rc) {
        to = free_path(damaged, file, f);
        folder = to ? strdup(to) : NULL;
        rc = folder ? 0 : fault_set(f, FAULT_SYSTEM, "no memory for a file's name");
    }
    if (!rc) {
        *strrchr(folder, '/') = '\0';
        rc = dir_make(folder, f);
    }
    if (!rc && rename(from, to))
        rc = fault_set(f, FAULT_FILE, "%s: can't be moved to %s: %s", from, to,
                       strerror(errno));
    if (!rc)
        log_line(LOG_INFO, "%s moved to %s", from, to);
    free(damaged);
    free(from);
    free(to);
    free(folder);
    return rc;
}

/* A folder can't be replaced by the file of this name that is to be written. */
static int folder_aside(const struct store *s, const char *file, struct fault *f)
{
    char *path = path_join(s->dir, file, f);
    struct stat st;
    int rc = path ? 0 : f->code;

    if (!rc && !lstat(path, &st) && S_ISDIR(st.st_mode))
        rc = set_aside(s, file, f);
    free(path);
    return rc;
}

static int repair(struct store *s, const struct inspect_findings *x, struct fault *f)
{
    int rc = 0;

    for (size_t i = 0; i < x->n && !rc; i++)
        if (x->item[i].level == INSPECT_DAMAGED)
            rc = set_aside(s, x->item[i].file, f);
    if (!rc)
        rc = folder_aside(s, "checkpoints/latest", f);
    if (!rc)
        rc = folder_aside(s, "run.h5", f);
    return rc || x->resumes < 0 ? rc : name_latest(s, x->resumes, f);
}

int store_repair_all(struct store *s, const struct inspect_findings *x, struct fault *f)
{
    int rc = comm_rank(s->comm) == 0 ? repair(s, x, f) : 0;

    rc = comm_agree_all(s->comm, rc, f);
    return rc ? rc : store_index_all(s, f);
}
