/* backend.c - the list of backends and the way to one by name. */
#include <string.h>

#include "backend/check.h"
#include "backend/ops.h"

const struct backend *const backend_list[] = {&backend_cpu, &backend_ref, NULL};

/* Names that some build of dapo answers to, and this one does not. */
static const char *const elsewhere[] = {"cuda", NULL};

static int find_plain(const struct backend **out, const char *name, struct fault *f)
{
    for (int i = 0; backend_list[i]; i++) {
        if (!strcmp(name, backend_list[i]->name)) {
            *out = backend_list[i];
            return 0;
        }
    }
    for (int i = 0; elsewhere[i]; i++)
        if (!strcmp(name, elsewhere[i]))
            return fault_set(f, FAULT_DEVICE,
                             "backend \"%s\" is not in this build; use cpu", name);
    return fault_set(f, FAULT_CONFIG,
                     "backend \"%.40s\" is unknown; the known ones are cpu, ref, and "
                     "check:NAME with one of these",
                     name);
}

int backend_find(const struct backend **out, const char *name, struct fault *f)
{
    static const char prefix[] = "check:";
    const struct backend *b = NULL;
    int check = !strncmp(name, prefix, sizeof prefix - 1);

    *out = NULL;
    if (find_plain(&b, name + (check ? sizeof prefix - 1 : 0), f))
        return f->code;
    return check ? check_wrap(out, b, f) : (*out = b, 0);
}
