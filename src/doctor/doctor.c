/* doctor.c - the checks, in their order. */
#include "dapo/mem.h"
#include "doctor/report.h"

static void start_all(struct report *r)
{
    check_ranks(r);
    check_cpus_all(r);
    open_scratch_all(r);
    check_locks_all(r);
    check_space(r);
    close_scratch_all(r);
}

/* What the job says of itself. */
static void check_job(struct report *r)
{
    char memory[32], disk[32];
    const struct doctor_job *j = r->job;

    if (!j->given)
        return;
    if (j->broken)
        say_failure(r, (enum fault_code)j->broken->code, "job", "see dapo plan", "%s",
                    j->broken->text);
    else
        say_ok(
            r, "job", "%s a rank, %s on disk at most",
            size_text(j->learn_bytes > j->roll_bytes ? j->learn_bytes : j->roll_bytes,
                      memory),
            size_text(j->run_bytes, disk));
}

static void all_all(struct report *r)
{
    bool full = r->how == DOCTOR_FULL;

    check_job(r);
    check_ranks(r);
    check_pmix(r);
    if (full)
        check_time(r);
    check_cpus_all(r);
    check_processors_all(r);
    check_memory_all(r);
    check_limits_all(r);
    check_devices_all(r);
    check_libraries(r);
    if (full)
        check_python(r);
    check_ring_all(r);
    check_messages_all(r);
    check_clocks_all(r);
    open_scratch_all(r);
    check_locks_all(r);
    check_space(r);
    check_sync(r);
    if (full)
        check_files_all(r);
    close_scratch_all(r);
}

int doctor_run_all(struct comm *c, const struct doctor_job *job, enum doctor_how how,
                   double message, struct fault *f)
{
    struct report r = {
        .comm = c, .job = job, .how = how, .message = message, .first = FAULT_INIT};
    int rc;

    site_read(&r.site);
    find_nodes_all(&r);
    if (how == DOCTOR_START)
        start_all(&r);
    else
        all_all(&r);
    stage(&r, NULL);
    site_close();
    rc = r.failures ? r.first.code : 0;
    if (rc && how == DOCTOR_START)
        *f = r.first;
    else if (rc)
        fault_set(f, (enum fault_code)rc, "%d check%s failed, first %.400s", r.failures,
                  r.failures > 1 ? "s" : "", r.first.text);
    return comm_agree_all(c, rc, f);
}
