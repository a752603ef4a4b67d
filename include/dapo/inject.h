/* inject.h - faults on demand, for tests of what happens then.
 *
 * debug.fault = POINT:RANK:NTH[:HOW] lets the NTH (from 1) passage of this rank through
 * POINT go wrong.  HOW: fail (default), the operation reports a failure as the real one
 * would; kill, the process gets SIGKILL; crash, SIGSEGV; hang, it never returns.  Off
 * by default; then a passage costs one comparison.
 */
#ifndef DAPO_INJECT_H
#define DAPO_INJECT_H

#include "dapo/fault.h"

/* X(name, printed, code of the failure, meaning) */
#define INJECT_LIST(X)                                                          \
    X(AGREE, "agree", FAULT_SYSTEM, "an agreement of all ranks on success")     \
    X(OPEN, "open", FAULT_FILE, "a file is opened or created")                  \
    X(READ, "read", FAULT_FILE, "values of a run's file are read")              \
    X(WRITE, "write", FAULT_FILE, "values of a run's file are written")         \
    X(RESERVE, "reserve", FAULT_FILE, "room on the disk is reserved")           \
    X(CLOSE, "close", FAULT_FILE, "a file just written is closed")              \
    X(SYNC, "sync", FAULT_FILE, "a file or folder is synced")                   \
    X(RENAME, "rename", FAULT_FILE, "a file gets its final name")               \
    X(DELETE, "delete", FAULT_FILE, "a checkpoint that is not kept is deleted") \
    X(TICK, "tick", FAULT_SYSTEM, "a report or decision goes out")              \
    X(GENERATE, "generate", FAULT_SYSTEM, "a slice is decoded")                 \
    X(DELIVER, "deliver", FAULT_SYSTEM, "admitted groups go to the learners")   \
    X(LEARN, "learn", FAULT_SYSTEM, "an update begins")                         \
    X(PUBLISH, "publish", FAULT_SYSTEM, "weights go to the replicas")           \
    X(EVALUATE, "evaluate", FAULT_SYSTEM, "an evaluation begins")               \
    X(STEP_FILE, "step_file", FAULT_SYSTEM, "a step file is begun")             \
    X(CHECKPOINT, "checkpoint", FAULT_SYSTEM, "a checkpoint is begun")          \
    X(RESUME, "resume", FAULT_SYSTEM, "a checkpoint is taken over")
enum inject_point {
#define X(name, text, code, meaning) INJECT_##name,
    INJECT_LIST(X)
#undef X
        INJECT_COUNT
};

/* Arm by the setting's text ("" = off) on the rank with this number.  FAULT_CONFIG for
 * an unknown point or how, or no number. */
int inject_arm(const char *spec, int rank, struct fault *f);
/* Pass through a point: 0, or the code of the failure with a sentence.  Not for use by
 * two threads at once. */
int inject_pass(enum inject_point p, struct fault *f);

#endif
