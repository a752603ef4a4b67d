/* table.h - private: the rows of config.def as data. */
#ifndef DAPO_CONFIG_TABLE_H
#define DAPO_CONFIG_TABLE_H

#include <stddef.h>
#include "dapo/config.h"

enum kind { KIND_int, KIND_real, KIND_bool, KIND_text, KIND_choice };

struct setting {
    const char *section, *key;
    enum kind kind;
    size_t offset;
    const char *def, *choices; /* choices "a|b|c" */
    double lo, hi;
    const char *unit, *text;
};

struct section {
    const char *name, *text;
};

extern const struct setting config_settings[];
extern const int config_n_settings;
extern const struct section config_sections[];
extern const int config_n_sections;

/* "section.key" or section and key; -1 if unknown. */
int config_find(const char *section, const char *key);
/* The known name nearest to section.key (edit distance); of sections only, if the
 * section itself is unknown and no key fits better. */
const char *config_nearest(const char *section, const char *key, char out[128]);

/* Parse and store one value; `where` begins the sentence of a fault. */
int config_set(struct config *c, const struct setting *s, const char *value,
               const char *where, struct fault *f);
/* Append the value as it is written in a job file. */
int config_format(const struct config *c, const struct setting *s, struct bytes *out,
                  struct fault *f);
#endif
