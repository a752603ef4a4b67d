/* check.c - see check.h. */
#include <CUnit/Basic.h>
#include <CUnit/CUnit.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int skipped;
static char tmp_dir[64];

static void verdict(bool ok, const char *file, int line, const char *message)
{
    if (!ok)
        fprintf(stderr, "%s:%d: %s\n", file, line, message);
    CU_assertImplementation(ok ? CU_TRUE : CU_FALSE, (unsigned)line, message, file, "",
                            CU_FALSE);
}

void check_true(bool ok, const char *text, const char *file, int line)
{
    verdict(ok, file, line, text);
}

void check_int(long long got, long long want, const char *text, const char *file,
               int line)
{
    char m[512];

    snprintf(m, sizeof m, "%s is %lld, want %lld", text, got, want);
    verdict(got == want, file, line, m);
}

void check_near(double got, double want, double within, const char *text,
                const char *file, int line)
{
    char m[512];

    snprintf(m, sizeof m, "%s is %.9g, want %.9g within %g", text, got, want, within);
    verdict(fabs(got - want) <= within || got == want, file, line, m);
}

void check_text(const char *got, const char *want, const char *text, const char *file,
                int line)
{
    char m[2048];

    snprintf(m, sizeof m, "%s is \"%s\", want \"%s\"", text, got ? got : "(null)",
             want ? want : "(null)");
    verdict(got && want && !strcmp(got, want), file, line, m);
}

void check_ok(int rc, const struct fault *f, const char *text, const char *file,
              int line)
{
    char m[1024];

    snprintf(m, sizeof m, "%s failed with %d: %s", text, rc, rc ? f->text : "");
    verdict(rc == 0, file, line, m);
}

void check_skip(const char *reason)
{
    CU_pTest now = CU_get_current_test();

    skipped++;
    printf("skipped: %s: %s\n", now ? now->pName : "?", reason);
}

const char *check_data(void)
{
    const char *dir = getenv("DAPO_DATA");
    struct stat st;

    if (!dir)
        dir = "../shared/data";
    if (stat(dir, &st) == 0)
        return dir;
    check_skip("no DAPO_DATA");
    return NULL;
}

static void remove_tmp(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf '%s'", tmp_dir);
    if (tmp_dir[0] && system(command))
        fprintf(stderr, "could not remove %s\n", tmp_dir);
}

const char *check_tmp(void)
{
    if (!tmp_dir[0]) {
        snprintf(tmp_dir, sizeof tmp_dir, "/tmp/dapo-test-XXXXXX");
        if (!mkdtemp(tmp_dir))
            abort();
        atexit(remove_tmp);
    }
    return tmp_dir;
}

int check_main(int argc, char **argv, const char *file, const struct check_case *cases)
{
    CU_pSuite suite;
    unsigned failed, ran;

    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    suite = CU_add_suite(file, NULL, NULL);
    for (const struct check_case *c = cases; c->name; c++)
        if (argc < 2 || strstr(c->name, argv[1]))
            CU_add_test(suite, c->name, c->run);
    CU_basic_set_mode(CU_BRM_SILENT);
    CU_basic_run_tests();
    failed = CU_get_number_of_tests_failed();
    ran = CU_get_number_of_tests_run();
    for (CU_pFailureRecord r = CU_get_failure_list(); failed && r; r = r->pNext)
        printf("failed: %s line %u: %s\n", r->pTest ? r->pTest->pName : "?",
               r->uiLineNumber, r->strCondition);
    printf("%s: %u passed, %u failed, %d skipped\n", file,
           ran - failed - (unsigned)skipped, failed, skipped);
    CU_cleanup_registry();
    return failed ? 1 : 0;
}
