/* problem.c - arithmetic word problems for the demo.
 *
 * A problem's skeleton is its numbers and operations: start, then up to five times an
 * operation and a number.  A hash of the skeleton alone decides whether it belongs to
 * the held-out part, so names and wording can't carry a skeleton across. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "dapo/data.h"
#include "dapo/mem.h"
#include "dapo/random.h"

enum { STEPS = 5, HELD_OUT_ONE_IN = 5 };
#define LENGTH(array) ((int)(sizeof(array) / sizeof *(array)))

struct skeleton {
    int n, start;
    char op[STEPS]; /* + - * */
    int by[STEPS];
};

static const char *const names[] = {"Anna",  "Ben",  "Clara", "David", "Emma", "Felix",
                                    "Grace", "Hugo", "Iris",  "Jack",  "Kate", "Leo"};
static const char *const things[] = {"apples",  "books",   "coins",   "cards",
                                     "eggs",    "flowers", "marbles", "nuts",
                                     "pencils", "shells",  "stamps",  "stones"};
/* "Then Anna gives 3 to a friend." */
struct event {
    const char *before, *after; /* the number */
};
static const struct event gains[] = {{"finds", " more"},
                                     {"buys", " more"},
                                     {"picks up", " more"},
                                     {"gets", " from a friend"}};
static const struct event losses[] = {
    {"loses", ""}, {"sells", ""}, {"gives away", ""}, {"gives", " to a friend"}};
static const struct event products[] = {{"has", " times as many"},
                                        {"now has", " times as many"}};

/* One stream of draws per attempt at a problem. */
struct dice {
    uint64_t seed;
    uint32_t i, attempt, part, next;
};

static int roll(struct dice *d, int n)
{
    return (int)random_below((uint64_t)n, d->seed, RANDOM_TASK, d->i, d->attempt,
                             d->part, d->next++);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int apply(int value, char op, int by)
{
    return op == '+' ? value + by : op == '-' ? value - by : value * by;
}

/* Two sums and two differences to each product; what can't be done from `value` without
 * leaving 0..limit is replaced. */
static char choose(struct dice *d, int value, int limit)
{
    char op = "++--*"[roll(d, 5)];

    if (op == '*' && (value < 1 || 2 * value > limit))
        op = roll(d, 2) ? '+' : '-';
    if (op == '+' && value >= limit)
        op = '-';
    if (op == '-' && value < 1)
        op = '+';
    return op;
}

/* `size` 0..2: numbers stay within 20, 50 or 99 and steps within 9, 20 or 40. */
static void draw(struct skeleton *s, struct dice *d, int steps, int size)
{
    static const int limits[] = {20, 50, 99}, strides[] = {9, 20, 40};
    int limit = limits[size], stride = strides[size], value;

    *s = (struct skeleton){.n = steps, .start = 2 + roll(d, stride)};
    value = s->start;
    for (int k = 0; k < steps; k++) {
        s->op[k] = choose(d, value, limit);
        if (s->op[k] == '+')
            s->by[k] = 1 + roll(d, least(limit - value, stride));
        else if (s->op[k] == '-')
            s->by[k] = 1 + roll(d, least(value, stride));
        else
            s->by[k] = 2 + roll(d, least(limit / value, 5) - 1);
        value = apply(value, s->op[k], s->by[k]);
    }
}

static bool is_held_out(const struct skeleton *s)
{
    unsigned char code[2 + 2 * STEPS] = {(unsigned char)s->n, (unsigned char)s->start};

    for (int k = 0; k < s->n; k++) {
        code[2 + 2 * k] = (unsigned char)s->op[k];
        code[3 + 2 * k] = (unsigned char)s->by[k];
    }
    return hash64(code, 2 + 2 * (size_t)s->n, 0) % HELD_OUT_ONE_IN == 0;
}

/* Append to a text of the problem.  The longest question has 5 steps of at most 50
 * bytes, so nothing is ever cut. */
__attribute__((format(printf, 3, 4))) static void say(char *text, size_t room,
                                                      const char *format, ...)
{
    size_t n = strlen(text);
    va_list ap;

    va_start(ap, format);
    vsnprintf(text + n, room - n, format, ap);
    va_end(ap);
}

static const struct event *event(struct dice *d, char op)
{
    return op == '+'   ? &gains[roll(d, LENGTH(gains))]
           : op == '-' ? &losses[roll(d, LENGTH(losses))]
                       : &products[roll(d, LENGTH(products))];
}

static void tell(struct problem *out, const struct skeleton *s, struct dice *d)
{
    const char *who = names[roll(d, LENGTH(names))];
    const char *what = things[roll(d, LENGTH(things))];
    int value = s->start;

    *out = (struct problem){0};
    say(out->question, sizeof out->question, "%s has %d %s.", who, s->start, what);
    for (int k = 0; k < s->n; k++) {
        const struct event *e = event(d, s->op[k]);
        int now = apply(value, s->op[k], s->by[k]);

        say(out->question, sizeof out->question, " Then %s %s %d%s.", who, e->before,
            s->by[k], e->after);
        say(out->solution, sizeof out->solution, "%d%c%d=%d. ", value, s->op[k],
            s->by[k], now);
        value = now;
    }
    say(out->question, sizeof out->question, " How many %s does %s have now?", what,
        who);
    say(out->solution, sizeof out->solution, "\\boxed{%d}", value);
    say(out->answer, sizeof out->answer, "%d", value);
}

void problem_make(struct problem *out, uint64_t seed, uint32_t i, int steps,
                  bool held_out)
{
    struct dice d = {.seed = seed, .i = i, .part = held_out};
    struct skeleton s;
    int size;

    if (steps > STEPS)
        steps = STEPS;
    do {
        d.attempt++;
        d.next = 0;
        size = roll(&d, 3);
        draw(&s, &d, steps > 0 ? steps : 2 + roll(&d, 3), size);
    } while (is_held_out(&s) != held_out);
    tell(out, &s, &d);
}
