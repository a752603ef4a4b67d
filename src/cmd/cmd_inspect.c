/* cmd_inspect.c - dapo inspect PATH: find out what it is, and show it. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "cmd/show.h"
#include "dapo/inspect.h"
#include "dapo/mem.h"
#include "dapo/model.h"

void show_line(const char *name, const char *format, ...)
{
    char text[2 * CONFIG_TEXT];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    text_tame(text);
    printf("%-22s %s\n", name, text);
}

int show_settings(const char *name, const char *text, struct fault *f)
{
    struct config defaults, own;
    struct fault why = FAULT_INIT;
    struct bytes names = {0}, value = {0};
    char *save = NULL;
    int rc = config_read(&defaults, NULL, NULL, 0, f);

    if (rc)
        return rc;
    if (config_parse(&own, name, text, NULL, 0, &why)) {
        show_line("settings", "can't be read by this build: %s", why.text);
        return 0;
    }
    rc = config_diff(&defaults, &own, &names, f);
    for (char *p = names.len ? strtok_r(names.data, "\n", &save) : NULL; p && !rc;
         p = strtok_r(NULL, "\n", &save)) {
        value.len = 0;
        rc = config_value(&own, p, &value, f);
        if (!rc)
            show_line("setting", "%s = %s", p, value.len ? value.data : "");
    }
    bytes_free(&names);
    bytes_free(&value);
    return rc;
}

/* Whether the folder has an entry of this name. */
static int has(const char *dir, const char *name, bool *yes, struct fault *f)
{
    char *path = path_join(dir, name, f);

    if (!path)
        return f->code;
    *yes = access(path, F_OK) == 0;
    free(path);
    return 0;
}

/* A PEFT directory: its configuration, as far as it can be used. */
static int show_peft(const char *dir, struct fault *f)
{
    struct lora_config c;
    int rc = lora_config_read(&c, dir, f);

    if (rc)
        return rc;
    show_line("kind", "adapter directory");
    show_line("adapter", "rank %d, alpha %g", c.rank, c.alpha);
    show_line("targets", "%s", c.targets);
    return 0;
}

static int show_folder(const char *dir, struct fault *f)
{
    bool model = false, run = false, adapter = false;
    int rc = has(dir, "config.json", &model, f);

    if (!rc)
        rc = has(dir, "rollouts", &run, f);
    if (!rc)
        rc = has(dir, "adapter_config.json", &adapter, f);
    if (rc)
        return rc;
    if (run)
        return show_run(dir, f);
    if (model)
        return show_model(dir, f);
    if (adapter)
        return show_peft(dir, f);
    return fault_set(f, FAULT_DATA,
                     "%s: is neither a run directory (no rollouts/) nor a model "
                     "directory (no config.json) nor an adapter's (no "
                     "adapter_config.json)",
                     dir);
}

static int show_file(const char *path, struct fault *f)
{
    enum inspect_kind kind;
    int rc = inspect_kind(&kind, path, f);

    if (rc)
        return rc;
    if (kind == INSPECT_STEP)
        return show_step(path, f);
    if (kind == INSPECT_CHECKPOINT)
        return show_checkpoint(path, f);
    return fault_set(f, FAULT_DATA,
                     "%s: is a run's index, derived from its step files; inspect the "
                     "run directory instead",
                     path);
}

int cmd_inspect(struct cmd_env *e, struct fault *f)
{
    struct stat st;
    bool waste = cmd_flag(e, "--waste");
    int rc = cmd_rest(e, 1, 1, f);

    if (rc)
        return rc;
    if (stat(e->argv[0], &st))
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", e->argv[0],
                         strerror(errno));
    if (waste)
        return show_waste(e->argv[0], f);
    return S_ISDIR(st.st_mode) ? show_folder(e->argv[0], f) : show_file(e->argv[0], f);
}
