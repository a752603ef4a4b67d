/* sched.h - private: which member runs in which slot, on which pages, and when.
 *
 * Pure: no model, no clock.  Groups wait in order of submission (FIFO, nobody
 * overtakes).  A group is *admitted* when the pages of its prompt and of one member can
 * be had beyond what earlier groups still want; then its prompt is prefilled, all but
 * the last token; then its members *start*, each in a free slot with every page it can
 * ever need.  So a started member always ends, and nobody is preempted:
 *
 *   - pages go only to members of the first group that has waiting ones, or to the
 *     admission of a later group that leaves enough for all of those;
 *   - with nobody running, the first group finds all pages free except its prompt's,
 *     which is enough (sched_least_pages).
 *
 * A model with linear attention has *states* beside pages: one for each member that
 * runs, and one for each admitted group whose members wait, which they copy when they
 * start; the last of them takes it over.  Groups are admitted only as far as these are
 * few (sched_prompt_states), so a member that has a slot always finds a state.
 *
 * The last prompt token is the first row of each member rather than the last of the
 * prefill.  A member's first draw is then like any other: no logits are kept for
 * members that wait, no shared page is written after the prefill, and it costs one row
 * per member.  On a backend whose rows don't depend on the batch all members draw from
 * the same bits.
 */
#ifndef DAPO_ROLLOUT_SCHED_H
#define DAPO_ROLLOUT_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "dapo/backend.h"
#include "dapo/group.h"
#include "rollout/pages.h"

/* A group inside the generator.  Members before `next` have or had a slot, or had
 * ended when the group came. */
struct entry {
    struct group *g;
    int64_t serial; /* order of submission */
    bool admitted;
    int filled;  /* prompt tokens in the cache, up to n_prompt - 1 */
    int next;    /* no member before it waits */
    int waiting; /* members without a slot yet */
    int ended;   /* members that finished or were cancelled */
    int n_pages; /* held for the members that wait */
    int *pages;  /* [n_pages] of the prompt without its last token */
    int state;   /* behind `filled` tokens; -1: none held */
};

/* A sequence being decoded, or a free place (e == NULL). */
struct slot {
    struct entry *e;
    int member;
    int pos;     /* of the token to feed: the last one there is, or one before it while
                    the tokens of an earlier step are computed anew */
    int n_pages; /* named in the slot's row of the map */
};

struct page_copy {
    int dst, src, rows;
};

struct state_copy {
    int dst, src;
};

/* What the next iteration feeds: a row per slot that draws, then rows of tokens that
 * are there already: those of slots that catch up, and prompts. */
struct batch {
    int busy, rows;       /* rows [0, busy) draw; their seq is the slot's number */
    int *ids, *seq, *pos; /* [slots + chunk] */
    int *out;             /* [slots] 0, 1, 2, ...: the rows whose logits are wanted */
    int n_copy;
    struct page_copy *copy; /* [slots] to be done in this order before the forward */
    int n_states;
    struct state_copy *states; /* [slots] likewise */
};

struct sched {
    int n_slots, chunk, max_prompt, max_tokens;
    int running, waiting; /* members in slots; members without one yet */
    struct slot *slots;   /* [n_slots] */
    struct pages pages;
    struct pages states; /* total 0 in a model without */
    int ahead;           /* states held by groups, at most sched_prompt_states */
    int stride, *first;  /* kv_map: [2 * n_slots][stride]; slots, then prefills */
    int *state;          /* kv_map: [2 * n_slots]; -1 in a model without */
    struct entry **held; /* [n] in order of submission */
    size_t cap;
    int n, head; /* entries before `head` have no waiting members */
    int64_t serial;
    struct batch batch;
};

/* The fewest pages with which every group can be generated, and the number beyond
 * which more pages can't help; in 64 bits because the numbers are a user's. */
int64_t sched_least_pages(int max_prompt, int max_tokens);
int64_t sched_ample_pages(int slots, int max_prompt, int max_tokens);

/* States that groups may hold for members that wait: an eighth of the slots', and one
 * that is prefilled ahead. */
int sched_prompt_states(int slots);

/* All numbers >= 1, pages in [sched_least_pages, INT_MAX / KV_PAGE].  `states`: 0, or
 * slots + sched_prompt_states(slots).  0 or FAULT_SYSTEM; sched_free is allowed either
 * way. */
int sched_new(struct sched *s, int slots, int pages, int states, int chunk,
              int max_prompt, int max_tokens, struct fault *f);
void sched_free(struct sched *s);
/* Free every group held and start over. */
void sched_reset(struct sched *s);

/* Take over `g`, 1 <= n_prompt <= max_prompt.  0 or FAULT_SYSTEM (not taken over). */
int sched_add(struct sched *s, struct group *g, struct fault *f);
/* The entry of a candidate; NULL if not held. */
struct entry *sched_find(const struct sched *s, int64_t index);
/* Let go of an entry whose members have all ended (sched_cancel); returns its group. */
struct group *sched_remove(struct sched *s, struct entry *e);

/* Admit, start, and fill s->batch for the next iteration: 0 rows iff nothing is left.
 * Prompt rows in the batch count as filled from here on. */
void sched_plan(struct sched *s);
/* The map of the batch. */
struct kv_map sched_map(const struct sched *s);
/* The member in a slot ended: free the slot, its pages and its state. */
void sched_end(struct sched *s, int slot);
/* End all members of an entry, those in slots and those that wait. */
void sched_cancel(struct sched *s, struct entry *e);
/* How many members more could surely run now besides those that run or wait. */
int sched_room(const struct sched *s);

#endif
