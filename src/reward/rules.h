/* rules.h - private: the parts of a verdict. */
#ifndef DAPO_REWARD_RULES_H
#define DAPO_REWARD_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include "dapo/mem.h"

/* A piece of a text. */
struct span {
    size_t at, n;
};

/* extract.c.  Content of the last balanced \boxed{...} or \fbox{...} that lies in
 * text[from, n). */
bool box_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len);
/* Whether text[at] is a brace, not a literal one: an even run of backslashes before. */
bool box_brace(const char *text, size_t from, size_t at);
/* Where the marker of the box with the brace text[at] starts, not before `from`;
 * SIZE_MAX if that brace opens no box. */
size_t box_marker(const char *text, size_t from, size_t at);
/* Last non-overlapping match of (?i)Answer\s*:\s*([^\n]+) in text[from, n), with the
 * semantics of Python's re: offset and length of the group. */
bool line_find(const char *text, size_t from, size_t n, size_t *offset, size_t *len);

/* answer.c: what grader = math takes as the answer in text[from, n), see reward.h.
 * *where from the first piece's start to the last one's end; the pieces are joined in
 * *joined if there are several, which is empty otherwise. */
int answer_math(const char *text, size_t from, size_t n, bool *found,
                struct span *where, struct bytes *joined, struct fault *f);

/* boxes.c: the same of boxes only. */
int answer_boxes(const char *text, size_t from, size_t n, bool *found,
                 struct span *where, struct bytes *joined, struct fault *f);

/* Where text[at, end) ends without ornaments, end tokens and one full stop. */
size_t answer_end(const char *text, size_t at, size_t end);

/* Whether text[at, n) starts with `what`; whether text[from, end) ends in it; where it
 * ends without the bytes of `set` at its end. */
static inline bool starts(const char *text, size_t at, size_t n, const char *what)
{
    size_t k = strlen(what);

    return n - at >= k && !memcmp(text + at, what, k);
}

static inline bool ends_in(const char *text, size_t from, size_t end, const char *what)
{
    size_t k = strlen(what);

    return end - from >= k && !memcmp(text + end - k, what, k);
}

static inline size_t before_any(const char *text, size_t from, size_t end,
                                const char *set)
{
    while (end > from && text[end - 1] && strchr(set, text[end - 1]))
        end--;
    return end;
}

/* The two normal forms, appended to an empty *out.  0 or FAULT_SYSTEM. */
int normal_dapo(const char *answer, size_t n, struct bytes *out, struct fault *f);
int normal_exact(const char *answer, size_t n, struct bytes *out, struct fault *f);

#endif
