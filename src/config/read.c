/* read.c - the INI file, the overrides, the preset. */
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/table.h"

/* The INI library reads lines of at most this many bytes (its INI_MAX_LINE), and would
 * take the rest of a longer one for another line: refuse those first. */
#define LINE_MOST 198

/* What the file says of a setting. */
struct said {
    char *text; /* NULL: nothing */
    int line;   /* where it begins; 0: --set */
};

struct reading {
    struct config *c;
    const char *name;   /* of the file, for sentences */
    const char *rest;   /* of its text */
    int line;           /* the one read last */
    struct said *value; /* [settings] */
    int last;           /* setting of the line before: what a continuation belongs to */
    struct fault *f;
};

/* inih's reader: the next line of the text, as fgets gives it. */
static char *next_line(char *out, int size, void *user)
{
    struct reading *r = user;
    size_t n = strcspn(r->rest, "\n");

    n += r->rest[n] == '\n';
    if (n == 0 || n >= (size_t)size) /* check_lines lets none of them pass */
        return NULL;
    memcpy(out, r->rest, n);
    out[n] = '\0';
    r->rest += n;
    r->line++;
    return out;
}

static char *joined(char *old, const char *more)
{
    size_t n = old ? strlen(old) : 0;
    bool direct = n > 0 && old[n - 1] == '\\';
    size_t room = n + strlen(more) + 2;
    char *s = malloc(room);

    if (s)
        snprintf(s, room, "%.*s%s%s", (int)(direct ? n - 1 : n), old ? old : "",
                 old && !direct ? " " : "", more);
    free(old);
    return s;
}

/* inih's callback: 1 = go on, 0 = stop with an error (the fault says which). */
static int on_line(void *user, const char *section, const char *key, const char *value)
{
    struct reading *r = user;
    char near[128];
    int i = config_find(section, key);

    if (r->f->code)
        return 0;
    if (i < 0) {
        fault_set(r->f, FAULT_CONFIG,
                  "%s:%d: there is no setting %.60s%s%.60s; did you mean "
                  "%s?",
                  r->name, r->line, section, *section ? "." : "", key,
                  config_nearest(section, key, near));
        return 0;
    }
    if (r->value[i].text && i != r->last) {
        fault_set(r->f, FAULT_CONFIG, "%s:%d: %s.%s is set twice, first in line %d",
                  r->name, r->line, section, key, r->value[i].line);
        return 0;
    }
    if (!r->value[i].text)
        r->value[i].line = r->line;
    r->value[i].text = joined(r->value[i].text, value);
    r->last = i;
    if (!r->value[i].text)
        fault_set(r->f, FAULT_SYSTEM, "no memory for the settings");
    return r->value[i].text != NULL;
}

/* The INI library goes on after a malformed line and would report its consequences. */
static bool well_formed(const char *line, size_t n)
{
    size_t lead = strspn(line, " \t\r");

    if (lead >= n || line[lead] == '#' || line[lead] == ';')
        return true;
    if (line[lead] == '[')
        return memchr(line + lead, ']', n - lead) != NULL;
    return lead > 0 || memchr(line, '=', n) || memchr(line, ':', n);
}

static int check_lines(const char *name, const char *text, struct fault *f)
{
    int line = 1;

    for (const char *p = text; *p; line++) {
        size_t n = strcspn(p, "\n");

        if (n > LINE_MOST)
            return fault_set(
                f, FAULT_CONFIG,
                "%s: line %d is longer than %d bytes; go on in indented lines", name,
                line, LINE_MOST);
        if (!well_formed(p, n))
            return fault_set(
                f, FAULT_CONFIG,
                "%s: line %d is neither [section], key = value nor a comment", name,
                line);
        p += n + (p[n] == '\n');
    }
    return 0;
}

static int read_text(struct reading *r, const char *text)
{
    int rc = check_lines(r->name, text, r->f);

    if (rc)
        return rc;
    r->rest = text;
    rc = ini_parse_stream(next_line, r, on_line, r);
    if (r->f->code)
        return r->f->code;
    if (rc > 0)
        return fault_set(r->f, FAULT_CONFIG,
                         "%s: line %d is neither [section], key = value nor a comment",
                         r->name, rc);
    return rc < 0 ? fault_set(r->f, FAULT_SYSTEM, "%s: can't be parsed", r->name) : 0;
}

/* "section.key=value" replaces what the file said. */
static int override(struct reading *r, const char *set)
{
    char name[128], near[128], *dot;
    const char *equal = strchr(set, '=');
    int i;

    if (!equal || (size_t)(equal - set) >= sizeof name)
        return fault_set(r->f, FAULT_CONFIG, "--set %.100s: want section.key=value",
                         set);
    snprintf(name, sizeof name, "%.*s", (int)(equal - set), set);
    dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    i = config_find(name, dot ? dot + 1 : "");
    if (i < 0)
        return fault_set(r->f, FAULT_CONFIG,
                         "--set %.*s: there is no such setting; did you mean %s?",
                         (int)(equal - set), set,
                         dot ? config_nearest(name, dot + 1, near)
                             : config_nearest("", name, near));
    free(r->value[i].text);
    r->value[i] = (struct said){.text = strdup(equal + 1)};
    if (!r->value[i].text)
        return fault_set(r->f, FAULT_SYSTEM, "no memory for the settings");
    /* Here already, so that a bad value is not blamed on the file. */
    return config_set(r->c, &config_settings[i], equal + 1, "--set", r->f);
}

/* The four switches in which the presets differ. */
static const char *preset_value(enum preset p, const struct setting *s)
{
    static const struct {
        const char *section, *key, *value[2]; /* dapo, grpo */
    } rows[] = {
        {"loss", "clip_high", {"0.28", "0.2"}},
        {"loss", "reduction", {"token_mean", "sample_mean"}},
        {"admission", "dynamic", {"true", "false"}},
        {"reward", "overlong", {"add", "off"}},
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (!strcmp(rows[i].section, s->section) && !strcmp(rows[i].key, s->key))
            return rows[i].value[p];
    return NULL;
}

static int store_value(struct reading *r, int i)
{
    const struct setting *s = &config_settings[i];
    const struct said *said = r->value + i;
    const char *v = said->text ? said->text : s->def;
    struct bytes where = {0};
    int rc;

    if (!said->text && !strcmp(v, "preset"))
        v = preset_value((enum preset)r->c->loss.preset, s);
    rc = said->line ? bytes_printf(&where, r->f, "%s:%d", r->name, said->line) : 0;
    if (!rc)
        rc = config_set(r->c, s, v, where.data ? where.data : r->name, r->f);
    bytes_free(&where);
    return rc;
}

static int store_values(struct reading *r)
{
    int rc = store_value(r, config_find("loss", "preset"));

    for (int i = 0; i < config_n_settings && !rc; i++)
        rc = store_value(r, i);
    return rc;
}

int config_parse(struct config *c, const char *name, const char *text,
                 const char *const *set, int n, struct fault *f)
{
    struct reading r = {.c = c, .name = name, .last = -1, .f = f};
    int rc = 0;

    memset(c, 0, sizeof *c);
    f->code = 0;
    r.value = mem_new((size_t)config_n_settings, sizeof *r.value, "the settings", f);
    if (!r.value)
        return f->code;
    rc = read_text(&r, text);
    for (int i = 0; i < n && !rc; i++)
        rc = override(&r, set[i]);
    if (!rc)
        rc = store_values(&r);
    if (!rc)
        rc = config_check(c, f);
    for (int i = 0; i < config_n_settings; i++)
        free(r.value[i].text);
    free(r.value);
    return rc;
}

int config_read(struct config *c, const char *path, const char *const *set, int n,
                struct fault *f)
{
    struct bytes text = {0};
    int rc = path ? file_read(path, 1 << 20, &text, f) : 0;

    if (!rc && text.len != strlen(text.data ? text.data : ""))
        rc =
            fault_set(f, FAULT_CONFIG, "%s: holds a NUL byte; is it a job file?", path);
    if (!rc)
        rc = config_parse(c, path ? path : "defaults", text.data ? text.data : "", set,
                          n, f);
    bytes_free(&text);
    return rc;
}
