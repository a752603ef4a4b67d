/* config.h - the job file: one validated struct from a file and overrides.
 *
 * default < preset < file < --set section.key=value.  No environment variable takes
 * part. The file is INI: `[section]`, `key = value`, comments from `#` or ` ;`.  A
 * value goes on in indented lines (joined by a space, or by nothing after a trailing
 * backslash); in texts \n, \t, \s (space), \\ and \xHH are understood.  What
 * config_print writes parses back to the same bits.
 */
#ifndef DAPO_CONFIG_H
#define DAPO_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include "dapo/fault.h"
#include "dapo/mem.h"

#define CONFIG_TEXT 1024 /* longest text value, NUL included */

typedef int64_t config_int;
typedef double config_real;
typedef bool config_bool;

struct config {
#define SECTION(name, text) struct {
#define C(section, key, type, def, lo, hi, unit, text) config_##type key;
#define T(section, key, def, text) char key[CONFIG_TEXT];
#define E(section, key, choices, def, text) int key;
#define END(name) \
    }             \
    name;
#include "dapo/config.def"
#undef SECTION
#undef C
#undef T
#undef E
#undef END
};

enum preset { PRESET_DAPO, PRESET_GRPO };                       /* loss.preset */
enum init { INIT_PRETRAINED, INIT_RANDOM };                     /* model.init */
enum overlong { OVERLONG_OFF, OVERLONG_ADD, OVERLONG_MIN };     /* reward.overlong */
enum bad_gold { BAD_GOLD_DROP, BAD_GOLD_KEEP, BAD_GOLD_ERROR }; /* data.on_bad_gold */
enum short_batch {
    SHORT_TRAIN,
    SHORT_SKIP,
    SHORT_ERROR,
    SHORT_STOP
}; /* admission.on_short_batch */

/* Read the job file `path` (NULL: defaults only), apply n overrides
 * "section.key=value", resolve the preset, check ranges and contradictions. FAULT_FILE,
 * FAULT_CONFIG with the file and line or the override; an unknown name is answered with
 * the nearest known. */
int config_read(struct config *c, const char *path, const char *const *set, int n,
                struct fault *f);
/* The same from a text, as stored in a checkpoint; `name` for messages. */
int config_parse(struct config *c, const char *name, const char *text,
                 const char *const *set, int n, struct fault *f);

/* Settings that contradict each other: FAULT_CONFIG says why. */
int config_check(const struct config *c, struct fault *f);
/* The resolved job file; with `comments` unit, range and meaning above each key. */
int config_print(const struct config *c, bool comments, struct bytes *out,
                 struct fault *f);
/* Append "section.key" of every setting whose value differs, one per line. */
int config_diff(const struct config *a, const struct config *b, struct bytes *out,
                struct fault *f);
/* Printed value of a setting by its full name; FAULT_CONFIG if unknown. */
int config_value(const struct config *c, const char *name, struct bytes *out,
                 struct fault *f);

#endif
