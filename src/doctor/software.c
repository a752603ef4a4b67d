/* software.c - libraries of this build and programs beside it. */
#include <dnnl.h>
#include <hdf5.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dapo/math.h"
#include "doctor/report.h"

/* The instructions that oneDNN chose for this processor. */
static const char *isa_text(void)
{
    static const struct {
        dnnl_cpu_isa_t isa;
        const char *text;
    } known[] = {
        {dnnl_cpu_isa_all, "all"},
        {dnnl_cpu_isa_sse41, "sse41"},
        {dnnl_cpu_isa_avx, "avx"},
        {dnnl_cpu_isa_avx2, "avx2"},
        {dnnl_cpu_isa_avx512_core, "avx512_core"},
        {dnnl_cpu_isa_avx512_core_vnni, "avx512_core_vnni"},
        {dnnl_cpu_isa_avx512_core_bf16, "avx512_core_bf16"},
        {dnnl_cpu_isa_avx512_core_amx, "avx512_core_amx"},
    };
    dnnl_cpu_isa_t isa = dnnl_get_effective_cpu_isa();

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (known[i].isa == isa)
            return known[i].text;
    return "another instruction set";
}

/* "Open MPI v4.1.4, package: Debian ..." -> "Open MPI v4.1.4" */
static void mpi_text(char *text, int n)
{
    char all[MPI_MAX_LIBRARY_VERSION_STRING];
    int len = 0;

    MPI_Get_library_version(all, &len);
    snprintf(text, (size_t)n, "%.*s", (int)strcspn(all, ",\n"), all);
}

void doctor_libraries(char *text, int n)
{
    unsigned major, minor, release;
    const dnnl_version_t *v = dnnl_version();
    char mpi[128];

    mpi_text(mpi, sizeof mpi);
    H5get_libversion(&major, &minor, &release);
    snprintf(text, (size_t)n, "%s, HDF5 %u.%u.%u, oneDNN %d.%d.%d on %s", mpi, major,
             minor, release, v->major, v->minor, v->patch, isa_text());
}

static bool hdf5_is_parallel(void)
{
#ifdef H5_HAVE_PARALLEL
    return true;
#else
    return false;
#endif
}

void check_libraries(struct report *r)
{
    const char *math = math_libraries();
    char text[512];

    doctor_libraries(text, sizeof text);
    if (!hdf5_is_parallel())
        say_failure(r, FAULT_CONFIG, "libraries",
                    "build with an HDF5 of --enable-parallel (HDF5_CFLAGS, HDF5_LIBS)",
                    "%s: this HDF5 is not parallel", text);
    else
        say_ok(r, "libraries", "%s", text);
    if (r->job->math && !math_has_flint())
        say_warning(r, "grader", "build with FLINT (FLINT= in env/site.sh)",
                    "%s: grader = math decides less", math);
    else
        say_ok(r, "grader", "%s", math);
}

/* The one that slurm/analyze.sh takes. */
void check_python(struct report *r)
{
    char *own = getenv("PYTHON"), system[] = "/usr/bin/python3", ask[] = "-c";
    char *python = own ? own : system;
    char code[] = "import h5py, pandas, matplotlib; print('h5py', h5py.__version__, "
                  "'pandas', pandas.__version__, 'matplotlib', matplotlib.__version__)";
    char *argv[] = {python, ask, code, NULL}, text[256];

    if (comm_rank(r->comm) != 0)
        return;
    if (!site_ask(argv, text, sizeof text)) {
        say_warning(r, "python",
                    "install them, or set PYTHON to another: analysis/ needs it, "
                    "dapo inspect --waste does not",
                    "%s has no h5py, pandas and matplotlib", python);
        return;
    }
    text[strcspn(text, "\n")] = '\0';
    say_ok(r, "python", "%s: %s", python, text);
}
