/* pulse.c - see pulse.h. */
#include <stdatomic.h>

#include "dapo/pulse.h"

static _Atomic int phase;
static _Atomic int64_t step, tick = -1;
static _Atomic uint64_t beats;

const char *phase_text(enum phase p)
{
    static const char *const names[PHASE_COUNT] = {
#define X(name, text) text,
        PHASE_LIST(X)
#undef X
    };

    return (unsigned)p < PHASE_COUNT ? names[p] : "unknown";
}

void pulse_phase(enum phase p, int64_t of_step)
{
    atomic_store(&phase, (int)p);
    if (atomic_exchange(&step, of_step) != of_step)
        atomic_store(&tick, -1);
    pulse_beat();
}

void pulse_beat(void)
{
    atomic_fetch_add_explicit(&beats, 1, memory_order_relaxed);
}

void pulse_tick(int64_t number)
{
    atomic_store_explicit(&tick, number, memory_order_relaxed);
    pulse_beat();
}

struct pulse pulse_now(void)
{
    return (struct pulse){
        .phase = (enum phase)atomic_load(&phase),
        .step = atomic_load(&step),
        .tick = atomic_load(&tick),
        .beats = atomic_load(&beats),
    };
}
