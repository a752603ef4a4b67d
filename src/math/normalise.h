/* normalise.h - private: the buffer of the passes of normalise.c, latex.c. */
#ifndef DAPO_MATH_NORMALISE_H
#define DAPO_MATH_NORMALISE_H

#include <string.h>

#include "math/parse.h"

struct text {
    size_t n;
    bool over;
    bool space;  /* white space came before what is emitted next */
    size_t skip; /* the closing brace of \boxed around the whole text */
    char s[MAX_NORMAL + 4];
};

static inline void start(struct text *t)
{
    t->n = t->skip = 0;
    t->over = t->space = false;
    t->s[0] = 0;
}

static inline void put(struct text *t, char c)
{
    if (t->n == MAX_NORMAL)
        t->over = true;
    else
        t->s[t->n++] = c;
    t->s[t->n] = 0;
}

static inline void put_text(struct text *t, const char *s)
{
    while (*s)
        put(t, *s++);
}

static inline bool starts(const char *s, const char *with)
{
    return !strncmp(s, with, strlen(with));
}

/* The second pass: LaTeX s, of one spelling, into *t. */
void latex(const char *s, struct text *t);

#endif
