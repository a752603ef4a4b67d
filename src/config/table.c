/* table.c - config.def expanded into rows, and finding one. */
#include <stdio.h>
#include <string.h>

#include "config/table.h"

const struct setting config_settings[] = {
#define SECTION(name, text)
#define END(name)
#define C(section, key, type, def, lo, hi, unit, text)                   \
    {#section, #key, KIND_##type,  offsetof(struct config, section.key), \
     def,      NULL, (double)(lo), (double)(hi),                         \
     unit,     text},
#define T(section, key, def, text)                                    \
    {#section, #key, KIND_text, offsetof(struct config, section.key), \
     def,      NULL, 0,         CONFIG_TEXT - 1,                      \
     "",       text},
#define E(section, key, choices, def, text)                                   \
    {                                                                         \
        #section, #key,    KIND_choice, offsetof(struct config, section.key), \
        def,      choices, 0,           0,                                    \
        "",       text},
#include "dapo/config.def"
#undef SECTION
#undef END
#undef C
#undef T
#undef E
};
const int config_n_settings = (int)(sizeof config_settings / sizeof config_settings[0]);

const struct section config_sections[] = {
#define SECTION(name, text) {#name, text},
#define END(name)
#define C(section, key, type, def, lo, hi, unit, text)
#define T(section, key, def, text)
#define E(section, key, choices, def, text)
#include "dapo/config.def"
#undef SECTION
#undef END
#undef C
#undef T
#undef E
};
const int config_n_sections = (int)(sizeof config_sections / sizeof config_sections[0]);

int config_find(const char *section, const char *key)
{
    for (int i = 0; i < config_n_settings; i++)
        if (!strcmp(config_settings[i].section, section) &&
            !strcmp(config_settings[i].key, key))
            return i;
    return -1;
}

/* Levenshtein distance of texts below 64 bytes. */
static int distance(const char *a, const char *b)
{
    int row[64], la = (int)strlen(a), lb = (int)strlen(b);

    if (la > 63 || lb > 63)
        return 1000;
    for (int j = 0; j <= lb; j++)
        row[j] = j;
    for (int i = 1; i <= la; i++) {
        int corner = row[0];

        row[0] = i;
        for (int j = 1; j <= lb; j++) {
            int d = corner + (a[i - 1] != b[j - 1]);

            corner = row[j];
            if (row[j] + 1 < d)
                d = row[j] + 1;
            if (row[j - 1] + 1 < d)
                d = row[j - 1] + 1;
            row[j] = d;
        }
    }
    return row[lb];
}

const char *config_nearest(const char *section, const char *key, char out[128])
{
    int best = 100000, which = 0;

    for (int i = 0; i < config_n_settings; i++) {
        const struct setting *s = &config_settings[i];
        /* A wrong section costs less than a wrong key: people remember keys. */
        int d = 2 * distance(key, s->key) + distance(section, s->section);

        if (d < best) {
            best = d;
            which = i;
        }
    }
    snprintf(out, 128, "%s.%s", config_settings[which].section,
             config_settings[which].key);
    return out;
}
