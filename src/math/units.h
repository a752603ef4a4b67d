/* units.h - private: the table of units, for units.c. */
#ifndef DAPO_MATH_UNITS_H
#define DAPO_MATH_UNITS_H

#include "math/parse.h"

struct unit_row {
    const char *names; /* the first is the canonical one */
    int8_t power[UNIT_BASES];
    long num, den; /* in base units */
    int flags;
};

/* The unit s[n], with 10^*power before it; weak ones (mg, eV) only where `text`. */
const struct unit_row *unit_find(const char *s, size_t n, bool text, int *power);
/* A unit that takes prefixes. */
const struct unit_row *unit_prefixed(const char *s, size_t n);

#endif
