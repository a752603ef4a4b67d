/* test_utf8.c - stepping over valid and broken text in both directions. */
#include <string.h>

#include "check.h"
#include "dapo/utf8.h"

/* By hand: a, U+00E9, U+4E2D, U+1F600, a cut U+4E2D (two strays), z. */
static const char text[] = "a\xc3\xa9\xe4\xb8\xad\xf0\x9f\x98\x80\xe4\xb8z";
static const struct {
    size_t at;
    int32_t code;
} step[] = {{0, 'a'}, {1, 0xe9}, {3, 0x4e2d}, {6, 0x1f600},
            {10, -1}, {11, -1},  {12, 'z'}};
enum { STEPS = sizeof step / sizeof *step };

static void both_directions_cut_alike(void)
{
    size_t n = sizeof text - 1, at = 0;
    int32_t code;

    for (int i = 0; i < STEPS; i++) {
        CHECK_INT(at, step[i].at);
        at += utf8_next(text, n, at, &code);
        CHECK_INT(code, step[i].code);
    }
    CHECK_INT(at, n);
    for (int i = STEPS; i-- > 0;) {
        at = utf8_prev(text, at, &code);
        CHECK_INT(at, step[i].at);
        CHECK_INT(code, step[i].code);
        CHECK_INT(utf8_tail(text, n, (size_t)(STEPS - i)), step[i].at);
    }
    CHECK_INT(utf8_tail(text, n, 1000), 0);
}

/* Surrogates and overlong forms are not characters. */
static void invalid_sequences_are_strays(void)
{
    int32_t code;

    CHECK_INT(utf8_next("\xed\xa0\x80", 3, 0, &code), 1);
    CHECK_INT(code, -1);
    CHECK_INT(utf8_next("\xc0\x80", 2, 0, &code), 1);
    CHECK_INT(code, -1);
    CHECK_INT(utf8_next("\xf4\x90\x80\x80", 4, 0, &code), 1);
    CHECK_INT(code, -1);
}

/* Python: [c for c in range(0x110000) if chr(c).isspace()] has 29 members, whose sum is
 * 141,704. */
static void spaces_are_pythons(void)
{
    long count = 0, sum = 0;

    for (int32_t c = 0; c < 0x110000; c++)
        if (utf8_is_space(c)) {
            count++;
            sum += c;
        }
    CHECK_INT(count, 29);
    CHECK_INT(sum, 141704);
    CHECK(!utf8_is_space(-1));
}

static void trim_takes_both_ends(void)
{
    const char *s = "\xe3\x80\x80 a b\t\n";
    size_t at = 0, end = strlen(s);

    utf8_trim(s, &at, &end);
    CHECK_INT(at, 4);
    CHECK_INT(end, 7);
    at = 0;
    end = 4;
    utf8_trim(s, &at, &end);
    CHECK_INT(at, end);
}

CASES(CASE(both_directions_cut_alike), CASE(invalid_sequences_are_strays),
      CASE(spaces_are_pythons), CASE(trim_takes_both_ends));
