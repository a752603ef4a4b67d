/* check.h - a thin layer over CUnit: values in messages, one main, exit status.
 *
 * A test file defines functions `static void name(void)` and ends in
 *     CASES(CASE(name), CASE(other));
 * The exit status is 0 if all passed, 1 if one failed, 77 if the file called skip_all.
 * The last line is "N passed, N failed".
 */
#ifndef DAPO_CHECK_H
#define DAPO_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include "dapo/fault.h"

struct check_case {
    const char *name;
    void (*run)(void);
};

void check_true(bool ok, const char *text, const char *file, int line);
void check_int(long long got, long long want, const char *text, const char *file,
               int line);
void check_near(double got, double want, double within, const char *text,
                const char *file, int line);
void check_text(const char *got, const char *want, const char *text, const char *file,
                int line);
/* rc must be 0; prints the fault's sentence otherwise. */
void check_ok(int rc, const struct fault *f, const char *text, const char *file,
              int line);
/* Marks the running case as skipped, by name and reason; it then counts as neither. */
void check_skip(const char *reason);

#define CHECK(x) check_true((x), #x, __FILE__, __LINE__)
#define CHECK_INT(got, want) \
    check_int((long long)(got), (long long)(want), #got, __FILE__, __LINE__)
#define CHECK_NEAR(got, want, within) \
    check_near((got), (want), (within), #got, __FILE__, __LINE__)
#define CHECK_TEXT(got, want) check_text((got), (want), #got, __FILE__, __LINE__)
#define CHECK_OK(call, f) check_ok((call), (f), #call, __FILE__, __LINE__)

/* The folder of real inputs (DAPO_DATA, default ../shared/data), or NULL after
 * check_skip("no DAPO_DATA"): the case must then return. */
const char *check_data(void);
/* A fresh empty folder for the running test program, removed at exit. */
const char *check_tmp(void);

int check_main(int argc, char **argv, const char *file, const struct check_case *cases);

#define CASE(f) \
    {           \
#f, f   \
    }
#define CASES(...)                                                            \
    int main(int argc, char **argv)                                           \
    {                                                                         \
        static const struct check_case cases[] = {__VA_ARGS__, {NULL, NULL}}; \
        return check_main(argc, argv, __FILE__, cases);                       \
    }

#endif
