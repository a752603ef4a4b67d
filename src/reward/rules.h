/* rules.h - private: the parts of a verdict. */
#ifndef DAPO_REWARD_RULES_H
#define DAPO_REWARD_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include "dapo/mem.h"

/* Content of the last balanced \boxed{...} or \fbox{...} that lies in text[from, n). */
bool box_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len);
/* Last non-overlapping match of (?i)Answer\s*:\s*([^\n]+) in text[from, n), with the
 * semantics of Python's re: offset and length of the group. */
bool line_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len);

/* The two normal forms, appended to an empty *out.  0 or FAULT_SYSTEM. */
int normal_dapo(const char *answer, size_t n, struct bytes *out, struct fault *f);
int normal_exact(const char *answer, size_t n, struct bytes *out, struct fault *f);

#endif
