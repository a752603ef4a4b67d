/* log.c - one event per line on stderr; a progress bar where there is a terminal. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "dapo/clock.h"
#include "dapo/log.h"

#define BAR 28
#define PROGRESS_EVERY 10.0 /* seconds between plain progress lines */

static struct {
    int rank;
    enum log_level level;
    FILE *tee;
    bool bar;          /* a bar stands on the terminal's current line */
    double last_plain; /* when the last plain progress line was written */
} speaker = {.rank = -1, .level = LOG_INFO};

void log_open(int rank, enum log_level level)
{
    speaker.rank = rank;
    speaker.level = level;
}

int log_tee(const char *path)
{
    if (speaker.tee)
        fclose(speaker.tee);
    speaker.tee = path ? fopen(path, "a") : NULL;
    return path && !speaker.tee ? -1 : 0;
}

static void clear_bar(void)
{
    if (speaker.bar)
        fputs("\r\033[K", stderr);
    speaker.bar = false;
}

static void put_line(enum log_level level, const char *format, va_list ap)
{
    char line[2048], stamp[32];
    time_t now = time(NULL);
    struct tm tm;
    int n;

    localtime_r(&now, &tm);
    strftime(stamp, sizeof stamp, "%Y-%m-%dT%H:%M:%S", &tm);
    if (speaker.rank >= 0)
        n = snprintf(line, sizeof line, "%s %c r%04d ", stamp, "EWID"[level],
                     speaker.rank);
    else
        n = snprintf(line, sizeof line, "%s %c ", stamp, "EWID"[level]);
    vsnprintf(line + n, sizeof line - (size_t)n, format, ap);
    clear_bar();
    /* One write per line: lines of different ranks must not mix. */
    fprintf(stderr, "%s\n", line);
    if (speaker.tee) {
        fprintf(speaker.tee, "%s\n", line);
        fflush(speaker.tee);
    }
}

void log_line(enum log_level level, const char *format, ...)
{
    va_list ap;

    if (level > speaker.level)
        return;
    va_start(ap, format);
    put_line(level, format, ap);
    va_end(ap);
}

void log0_line(enum log_level level, const char *format, ...)
{
    va_list ap;

    if (level > speaker.level || speaker.rank > 0)
        return;
    va_start(ap, format);
    put_line(level, format, ap);
    va_end(ap);
}

void log_progress(const char *what, long done, long total, const char *note)
{
    char bar[BAR + 1];
    int full;

    if (speaker.rank > 0 || speaker.level < LOG_INFO)
        return;
    if (!note)
        note = "";
    if (!isatty(STDERR_FILENO)) {
        if (speaker.last_plain == 0) /* the first line is due after a while, not now */
            speaker.last_plain = clock_now();
        if (clock_now() - speaker.last_plain < PROGRESS_EVERY)
            return;
        speaker.last_plain = clock_now();
        log0_line(LOG_INFO, "%s %ld/%ld %s", what, done, total, note);
        return;
    }
    full = total > 0 ? (int)((done < total ? done : total) * BAR / total) : 0;
    memset(bar, ' ', BAR);
    memset(bar, '=', (size_t)full);
    bar[BAR] = '\0';
    fprintf(stderr, "\r\033[K%s [%s] %ld/%ld %s", what, bar, done, total, note);
    fflush(stderr);
    speaker.bar = true;
}

void log_progress_end(void)
{
    clear_bar();
    speaker.last_plain = clock_now();
}
