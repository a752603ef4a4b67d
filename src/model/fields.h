/* fields.h - private: single values out of a JSON object, checked.
 *
 * A key that is absent or null counts as missing.  Faults are FAULT_DATA and name the
 * file and the key.
 */
#ifndef DAPO_MODEL_FIELDS_H
#define DAPO_MODEL_FIELDS_H

#include <jansson.h>
#include <stdbool.h>

#include "dapo/fault.h"

/* One JSON object and the file it came from. */
struct source {
    const char *path;
    const json_t *root;
    struct fault *f;
};

/* NULL where the key is missing. */
const json_t *field_find(const struct source *s, const char *key);
/* The fault for a key that must be there. */
int field_missing(const struct source *s, const char *key);
/* A whole number from 0 on; `fallback` < 0: the key must be there. */
int field_int(const struct source *s, const char *key, int fallback, int *out);
/* A finite number; `fallback` NAN: the key must be there. */
int field_real(const struct source *s, const char *key, double fallback, double *out);
int field_bool(const struct source *s, const char *key, bool fallback, bool *out);
/* The text at `key`, which must be there. */
int field_text(const struct source *s, const char *key, const char **out);

#endif
