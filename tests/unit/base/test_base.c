/* test_base.c - random numbers against Random123's vectors, faults, memory, files. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "dapo/group.h"
#include "dapo/mem.h"
#include "dapo/random.h"

/* kat_vectors of Random123 1.09: philox4x32 10. */
static void philox_known_answers(void)
{
    static const struct {
        uint32_t counter[4], key[2], want[4];
    } t[] = {
        {{0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
        {{~0u, ~0u, ~0u, ~0u},
         {~0u, ~0u},
         {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
        {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344},
         {0xa4093822, 0x299f31d0},
         {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
    };

    for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
        uint32_t got[4];

        philox4x32(t[i].counter, t[i].key, got);
        for (int k = 0; k < 4; k++)
            CHECK_INT(got[k], t[i].want[k]);
    }
}

static void uniform_is_uniform(void)
{
    double sum = 0, square = 0;
    int n = 20000;

    for (int i = 0; i < n; i++) {
        float u = random_uniform(7, RANDOM_TEST, (uint32_t)i, 0, 0, 0);

        CHECK(u >= 0 && u < 1);
        sum += (double)u;
        square += (double)u * (double)u;
    }
    CHECK_NEAR(sum / n, 0.5, 0.01);
    CHECK_NEAR(square / n, 1.0 / 3, 0.01);
}

static void uses_never_meet(void)
{
    CHECK(random_bits(1, RANDOM_SAMPLE, 1, 2, 3, 4) !=
          random_bits(1, RANDOM_ORDER, 1, 2, 3, 4));
}

static void fault_text_is_one_safe_line(void)
{
    struct fault f = FAULT_INIT;

    CHECK_INT(fault_set(&f, FAULT_DATA, "a%cb%cc", '\n', 27), 65);
    CHECK_TEXT(f.text, "a?b?c");
    CHECK_TEXT(fault_text(78), "the configuration is wrong");
}

static void sizes_have_units(void)
{
    char text[32];

    CHECK_TEXT(size_text(0, text), "0.00 B");
    CHECK_TEXT(size_text(1023, text), "1023.00 B");
    CHECK_TEXT(size_text(1536, text), "1.50 KiB");
    CHECK_TEXT(size_text(3221225472.0, text), "3.00 GiB");
    CHECK_TEXT(size_text(1152921504606846976.0, text), "1024.00 PiB");
}

static void products_of_sizes_are_checked(void)
{
    size_t out = 1;
    struct fault f = FAULT_INIT;

    CHECK(!size_mul(SIZE_MAX, 2, &out));
    CHECK_INT(out, 1);
    CHECK(!size_add(SIZE_MAX, 1, &out));
    CHECK(size_mul(3, 5, &out) && out == 15);
    CHECK(mem_new(SIZE_MAX / 2, 4, "the test", &f) == NULL);
    CHECK_INT(f.code, FAULT_SYSTEM);
}

static void files_publish_whole(void)
{
    struct fault f = FAULT_INIT;
    struct bytes b;
    char *path = path_join(check_tmp(), "a/b", &f), hex[33];

    CHECK_OK(dir_make(path, &f), &f);
    free(path);
    path = path_join(check_tmp(), "a/b/file", &f);
    CHECK_OK(file_publish(path, "hello", 5, &f), &f);
    CHECK_OK(file_read(path, 5, &b, &f), &f);
    CHECK_TEXT(b.data, "hello");
    bytes_free(&b);
    CHECK_INT(file_read(path, 4, &b, &f), FAULT_DATA);
    CHECK_INT(file_read("/nonexistent", 4, &b, &f), FAULT_FILE);
    CHECK_OK(hash_file(path, hex, &f), &f);
    /* printf hello | xxhsum -H2 */
    CHECK_TEXT(hex, "b5e9c1ad071b3e7fc779cfaa5e523818");
    free(path);
}

static void trainable_looks_at_integers(void)
{
    CHECK(!group_trainable(0, 8));
    CHECK(group_trainable(1, 8));
    CHECK(group_trainable(7, 8));
    CHECK(!group_trainable(8, 8));
}

CASES(CASE(philox_known_answers), CASE(uniform_is_uniform), CASE(uses_never_meet),
      CASE(fault_text_is_one_safe_line), CASE(products_of_sizes_are_checked),
      CASE(sizes_have_units), CASE(files_publish_whole),
      CASE(trainable_looks_at_integers));
