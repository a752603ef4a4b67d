/* rows.c - the rows of a raw prompt file, one after another. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "rows.h"

static bool is_blank(const char *line)
{
    return line[strspn(line, " \t\r\n")] == '\0';
}

/* The official file has 1.8 million rows, so rows are streamed, not gathered. */
static int read_stream(FILE *in, const char *path, row_taker *take, void *context,
                       struct fault *f)
{
    char *line = NULL;
    size_t cap = 0;
    ssize_t n;
    int rc = 0;

    errno = 0;
    for (long number = 1; !rc && (n = getline(&line, &cap, in)) >= 0; number++) {
        json_error_t why;
        json_t *row;

        if (is_blank(line) && strlen(line) == (size_t)n)
            continue;
        row = json_loadb(line, (size_t)n, 0, &why);
        if (!row)
            rc = fault_set(f, FAULT_DATA, "%s: line %ld: is not JSON: %s", path, number,
                           why.text);
        else if (!json_is_object(row))
            rc = fault_set(f, FAULT_DATA, "%s: line %ld: is not a JSON object", path,
                           number);
        else
            rc = take(context, row, number, f);
        json_decref(row);
    }
    if (!rc && !feof(in))
        rc = fault_set(f, FAULT_FILE, "%s: can't be read: %s", path, strerror(errno));
    free(line);
    return rc;
}

static int read_parquet(const char *path, row_taker *take, void *context,
                        struct fault *f)
{
    struct fault late = FAULT_INIT;
    struct parquet p;
    FILE *in;
    int fd, rc = parquet_start(&p, &fd, path, f), end;

    if (rc)
        return rc;
    in = fdopen(fd, "r");
    if (in) {
        rc = read_stream(in, path, take, context, f);
        fclose(in);
    } else {
        rc = fault_set(f, FAULT_SYSTEM, "%s: no stream for its rows: %s", path,
                       strerror(errno));
        close(fd);
    }
    /* If reading stopped early the program died of the closed pipe: not its fault. */
    end = parquet_end(&p, path, &late);
    if (!rc && end) {
        *f = late;
        rc = end;
    }
    return rc;
}

int rows_read(const char *path, row_taker *take, void *context, struct fault *f)
{
    FILE *in = fopen(path, "rb");
    char magic[4];
    int rc;

    if (!in)
        return fault_set(f, FAULT_FILE, "%s: can't be opened: %s", path,
                         strerror(errno));
    if (fread(magic, 1, sizeof magic, in) == sizeof magic &&
        !memcmp(magic, "PAR1", 4)) {
        fclose(in);
        return read_parquet(path, take, context, f);
    }
    rewind(in);
    rc = read_stream(in, path, take, context, f);
    fclose(in);
    return rc;
}
