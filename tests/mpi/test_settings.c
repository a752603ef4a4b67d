/* test_settings.c - README's table of what may change on resume is what the code says:
 * every setting stands in the row of its section, in the right column, once. */
#include <stdio.h>
#include <string.h>

#include "check_mpi.h"
#include "dapo/mem.h"
#include "dapo/train.h"

static const struct setting {
    const char *section, *key;
} settings[] = {
#define SECTION(name, text)
#define END(name)
#define C(section, key, type, def, lo, hi, unit, text) {#section, #key},
#define T(section, key, def, text) {#section, #key},
#define E(section, key, choices, def, text) {#section, #key},
#include "dapo/config.def"
#undef SECTION
#undef END
#undef C
#undef T
#undef E
};

/* How often the word stands in `cell` ("name, dir, steps"). */
static int times(const char *cell, const char *word)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
    int found = 0;

    for (size_t n; *cell && *cell != '|' && *cell != '\n'; cell += n + !n) {
        n = strspn(cell, letters);
        found += n == strlen(word) && !strncmp(cell, word, n);
    }
    return found;
}

/* What the table says of a setting. */
static const char *readme(const char *table, const struct setting *s)
{
    const char *may, *must;
    char front[64];
    int a, b;

    snprintf(front, sizeof front, "\n| `%s` |", s->section);
    may = strstr(table, front);
    may = may ? may + strlen(front) : "";
    must = strchr(may, '|');
    a = times(may, s->key);
    b = must ? times(must + 1, s->key) : 0;
    return a == 1 && b == 0 ? "may change" : a == 0 && b == 1 ? "must stay" : "nothing";
}

static void readme_is_the_code(void)
{
    struct bytes text = {0};
    struct fault f = FAULT_INIT;
    const char *table;

    CHECK_OK(file_read("README.md", 1 << 20, &text, &f), &f);
    table = strstr(text.data, "\n### What may change on resume\n");
    CHECK(table != NULL);
    for (size_t i = 0; table && i < sizeof settings / sizeof *settings; i++) {
        const struct setting *s = &settings[i];
        char name[64], got[128], want[128];

        snprintf(name, sizeof name, "%s.%s", s->section, s->key);
        snprintf(got, sizeof got, "%s %s", name, readme(table, s));
        snprintf(want, sizeof want, "%s %s", name,
                 train_may_change(name) ? "may change" : "must stay");
        CHECK_TEXT(got, want);
    }
    bytes_free(&text);
}

CASES_MPI(CASE(readme_is_the_code));
