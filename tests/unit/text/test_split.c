/* test_split.c - pieces against the tokenizers library's Split (Oniguruma), and the
 * places where normalisation is skipped against the Unicode tables. */
#include <stdio.h>
#include <stdlib.h>
#include <utf8proc.h>

#include "rows.h"
#include "text/text_impl.h"

static int collect(void *with, const char *piece, size_t n, struct fault *f)
{
    (void)f;
    return json_array_append_new(with, json_stringn(piece, n));
}

static void split_row(const json_t *row)
{
    const char *pattern = row_text(row, "pattern");
    struct fault f = FAULT_INIT;
    struct splitter s = {0};
    json_t *got = json_array();

    CHECK_OK(splitter_add(&s, pattern, strlen(pattern), "here", &f), &f);
    CHECK_OK(splitter_run(&s, row_text(row, "text"), row_size(row, "text"), collect,
                          got, &f),
             &f);
    if (!json_equal(got, json_object_get(row, "pieces"))) {
        json_dumpf(row, stderr, 0);
        json_dumpf(got, stderr, 0);
    }
    CHECK(json_equal(got, json_object_get(row, "pieces")));
    json_decref(got);
    splitter_free(&s);
}

static void pieces_are_those_of_oniguruma(void)
{
    CHECK_INT(rows_each(REF "split.jsonl", split_row), 128);
}

/* NFC or NFD of one code point. */
static size_t mapped(int u, int how, char out[64])
{
    utf8proc_uint8_t s[4], *made = NULL;
    utf8proc_ssize_t n = utf8proc_encode_char(u, s);

    n = utf8proc_map(s, n, &made, (utf8proc_option_t)(UTF8PROC_STABLE | how));
    CHECK(n > 0 && n < 64);
    memcpy(out, made, (size_t)n);
    free(made);
    return (size_t)n;
}

/* What nfc_quick lets pass is its own NFC, never moves, and is no second half of a
 * composition. */
static void quick_characters_are_stable(void)
{
    int passed = 0;

    for (int u = 1; u < 0x110000; u++) {
        char nfc[64], nfd[64], s[4];
        size_t n, m, first;
        int32_t point;

        if (u >= 0xD800 && u < 0xE000)
            continue;
        n = (size_t)utf8proc_encode_char(u, (utf8proc_uint8_t *)s);
        if (nfc_quick(s, n)) {
            passed++;
            m = mapped(u, UTF8PROC_COMPOSE, nfc);
            CHECK(m == n && !memcmp(nfc, s, n));
            CHECK_INT(utf8proc_get_property(u)->combining_class, 0);
        }
        m = mapped(u, UTF8PROC_DECOMPOSE, nfd);
        first = utf8_next(nfd, m, 0, &point);
        for (size_t i = first; i < m; i += n) {
            n = utf8_next(nfd, m, i, &point);
            CHECK(!nfc_quick(nfd + i, n));
        }
    }
    CHECK(passed > 30000);
}

CASES(CASE(pieces_are_those_of_oniguruma), CASE(quick_characters_are_stable))
