/* utf8.h - code points of untrusted bytes.
 *
 * A byte that belongs to no valid sequence counts as one code point of its own, forward
 * and backward alike (a lead byte is never part of another sequence, so both directions
 * cut a text at the same places).
 */
#ifndef DAPO_UTF8_H
#define DAPO_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes (1..4) of the code point that starts at text[at], at < n; its value, or -1 for
 * a stray byte, in *code. */
size_t utf8_next(const char *text, size_t n, size_t at, int32_t *code);
/* Where the code point that ends before text[at] starts; 0 < at <= n. */
size_t utf8_prev(const char *text, size_t at, int32_t *code);
/* Where the last `count` code points of text[n] start. */
size_t utf8_tail(const char *text, size_t n, size_t count);
/* Whether Python's str.isspace and the \s of its regular expressions say white space:
 * Unicode White_Space and the four separators U+001C..U+001F. */
bool utf8_is_space(int32_t code);
/* Leave white space off both ends of text[*at, *end). */
void utf8_trim(const char *text, size_t *at, size_t *end);

#endif
