/* print.c - the resolved job file, and what differs between two. */
#include <stdio.h>
#include <string.h>

#include "config/table.h"

/* "#" lines of at most 88 columns. */
static int comment(const char *text, struct bytes *out, struct fault *f)
{
    int rc = 0;

    while (*text && !rc) {
        size_t n = strlen(text);

        if (n > 84) {
            n = 84;
            while (n > 40 && text[n] != ' ')
                n--;
        }
        rc = bytes_printf(out, f, "# %.*s\n", (int)n, text);
        text += n;
        text += *text == ' ';
    }
    return rc;
}

static int describe(const struct setting *s, struct bytes *out, struct fault *f)
{
    struct bytes line = {0};
    int rc = bytes_printf(&line, f, "%s", s->text);

    if (!rc && s->kind == KIND_choice)
        rc = bytes_printf(&line, f, "  (%s)", s->choices);
    if (!rc && (s->kind == KIND_int || s->kind == KIND_real))
        rc = bytes_printf(&line, f, "  (%s%s%.16g to %.16g)", s->unit,
                          *s->unit ? ", " : "", s->lo, s->hi);
    if (!rc)
        rc = comment(line.data, out, f);
    bytes_free(&line);
    return rc;
}

int config_print(const struct config *c, bool comments, struct bytes *out,
                 struct fault *f)
{
    const char *section = "";
    int rc = 0, k = -1;

    for (int i = 0; i < config_n_settings && !rc; i++) {
        const struct setting *s = &config_settings[i];

        if (strcmp(section, s->section)) {
            section = s->section;
            k++;
            rc = bytes_printf(out, f, "%s[%s]%s%s\n", i ? "\n" : "", section,
                              comments ? "  ; " : "",
                              comments ? config_sections[k].text : "");
        }
        if (!rc && comments)
            rc = describe(s, out, f);
        if (!rc)
            rc = bytes_printf(out, f, "%s = ", s->key);
        if (!rc)
            rc = config_format(c, s, out, f);
        if (!rc)
            rc = bytes_printf(out, f, "\n");
    }
    return rc;
}

int config_diff(const struct config *a, const struct config *b, struct bytes *out,
                struct fault *f)
{
    int rc = 0;

    for (int i = 0; i < config_n_settings && !rc; i++) {
        const struct setting *s = &config_settings[i];
        struct bytes va = {0}, vb = {0};

        rc = config_format(a, s, &va, f);
        if (!rc)
            rc = config_format(b, s, &vb, f);
        if (!rc && (va.len != vb.len || (va.len && memcmp(va.data, vb.data, va.len))))
            rc = bytes_printf(out, f, "%s.%s\n", s->section, s->key);
        bytes_free(&va);
        bytes_free(&vb);
    }
    return rc;
}

int config_value(const struct config *c, const char *name, struct bytes *out,
                 struct fault *f)
{
    for (int i = 0; i < config_n_settings; i++) {
        char full[128];

        snprintf(full, sizeof full, "%s.%s", config_settings[i].section,
                 config_settings[i].key);
        if (!strcmp(full, name))
            return config_format(c, &config_settings[i], out, f);
    }
    return fault_set(f, FAULT_CONFIG, "there is no setting %.100s", name);
}
