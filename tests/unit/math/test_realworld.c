/* test_realworld.c - the pairs of answers.txt: units, money, time, number words, lists,
 * choices, remarks. */
#include "pairs.h"

static void answers(void)
{
    char *line = NULL, *text = NULL;
    size_t size = 0;
    FILE *in = fopen("tests/unit/math/answers.txt", "r");
    int n = 0;

    CHECK(in != NULL);
    while (in && getline(&line, &size, in) > 0) {
        char kind;

        line[strcspn(line, "\n")] = 0;
        kind = line[0];
        if (!kind || kind == '#')
            continue;
        CHECK(strchr("=TN", kind) && line[1] == ' ');
        if (kind == '=') {
            free(text);
            text = strdup(line + 2);
        } else if (text) {
            judge_all(&(struct pair){text, line + 2, kind}, 1);
            n++;
        }
    }
    CHECK(n > 1700);
    free(text);
    free(line);
    if (in)
        fclose(in);
}

CASES(CASE(answers));
