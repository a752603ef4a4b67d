/* fault.h - what went wrong, where, and what to do about it.
 *
 * A function that can fail returns 0 or a code of FAULT_LIST and, when it fails,
 * leaves one sentence in its `struct fault`.  The code is also the exit status of
 * the program (sysexits.h), so no table translates between the two.
 *
 * Under MPI a local fault becomes everyone's by comm_agree_all (comm.h).
 */
#ifndef DAPO_FAULT_H
#define DAPO_FAULT_H

/* X(name, exit status, meaning) */
#define FAULT_LIST(X)                                                             \
    X(NONE, 0, "no fault")                                                        \
    X(USAGE, 64, "the command line is wrong")                                     \
    X(DATA, 65, "the input is malformed")                                         \
    X(DEVICE, 69, "the device is missing")                                        \
    X(BUG, 70, "a bug in dapo; please report it")                                 \
    X(SYSTEM, 71, "out of memory, or the operating system refused")               \
    X(FILE, 74, "a file could not be read or written")                            \
    X(STOPPED, 75, "stopped before its end; run the same command again to go on") \
    X(CONFIG, 78, "the configuration is wrong")

enum fault_code {
#define X(name, status, text) FAULT_##name = status,
    FAULT_LIST(X)
#undef X
};

struct fault {
    int code;       /* enum fault_code; 0 while nothing failed */
    int rank;       /* world rank that raised it; -1 until comm_agree_all says */
    char text[504]; /* one sentence without a newline: what, where, what to do */
};

#define FAULT_INIT ((struct fault){.rank = -1})

/* Set *f and return `code`, so that failing is one statement:
 *     return fault_set(f, FAULT_DATA, "%s: line %d: no answer", path, line);
 * Overlong text is cut; control characters and newlines (paths and model files are
 * untrusted) are shown as '?'.  f may not be NULL. */
int fault_set(struct fault *f, enum fault_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same of any text, in place: a terminal and a log must not obey what a file holds.
 */
void text_tame(char *text);

/* The meaning of a code, e.g. "the input is malformed"; never NULL. */
const char *fault_text(int code);

#endif
