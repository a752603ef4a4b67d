/* chat.c - prompts from chat templates.
 *
 * A template becomes parts: its own text, in which special tokens count, and the texts
 * put into it, in which they don't.  The parts are encoded together, so that words that
 * span an edge come out as they do from a string rendered by Jinja.
 */
#include <stdlib.h>
#include <string.h>

#include "text_impl.h"

struct prompt_parts {
    struct part *item;
    size_t n, cap;
};

static int add(struct prompt_parts *p, const char *text, size_t n, bool special,
               struct fault *f)
{
    if (mem_grow((void **)&p->item, &p->cap, p->n + 1, sizeof p->item[0], "a prompt",
                 f))
        return f->code;
    p->item[p->n++] = (struct part){text, n, special};
    return 0;
}

/* The text of a template with {system} and {user} replaced, once each time they occur;
 * other braces stand for themselves. */
static int fill(struct prompt_parts *p, const char *template, const char *system,
                const char *user, struct fault *f)
{
    static const char *const name[] = {"{system}", "{user}"};
    const char *value[] = {system ? system : "", user}, *from = template, *s = template;
    int rc = 0;

    while (*s && !rc) {
        int k = !strncmp(s, name[0], strlen(name[0]))   ? 0
                : !strncmp(s, name[1], strlen(name[1])) ? 1
                                                        : -1;

        if (k < 0) {
            s++;
            continue;
        }
        rc = add(p, from, (size_t)(s - from), true, f);
        if (!rc)
            rc = add(p, value[k], strlen(value[k]), false, f);
        s += strlen(name[k]);
        from = s;
    }
    return rc ? rc : add(p, from, (size_t)(s - from), true, f);
}

#define SYSTEM "<|im_start|>system\n{system}<|im_end|>\n"
#define USER "<|im_start|>user\n{user}<|im_end|>\n<|im_start|>assistant\n"

static int make(struct prompt_parts *p, enum chat kind, const char *custom,
                const char *system, const char *user, struct fault *f)
{
    static const char qwen25[] =
        "You are Qwen, created by Alibaba Cloud. You are a helpful assistant.";
    bool own = !system || !*system; /* the template's own system text */

    switch (kind) {
    case CHAT_PLAIN:
        if (!own)
            return fault_set(
                f, FAULT_CONFIG,
                "the plain template has no place for a system text; leave it "
                "empty or take another template");
        return add(p, user, strlen(user), false, f);
    case CHAT_QWEN25:
        return fill(p, SYSTEM USER, own ? qwen25 : system, user, f);
    case CHAT_QWEN3:
        return fill(p, own ? USER : SYSTEM USER, system, user, f);
    case CHAT_QWEN3_NOTHINK:
        return fill(p,
                    own ? USER "<think>\n\n</think>\n\n"
                        : SYSTEM USER "<think>\n\n</think>\n\n",
                    system, user, f);
    case CHAT_CUSTOM:
        if (!custom || !strstr(custom, "{user}"))
            return fault_set(f, FAULT_CONFIG,
                             "the custom template has no {user} in it");
        if (!own && !strstr(custom, "{system}"))
            return fault_set(f, FAULT_CONFIG,
                             "there is a system text, but the custom template has no "
                             "{system} in it");
        return fill(p, custom, own ? "" : system, user, f);
    case CHAT_COUNT:
        break;
    }
    return fault_set(f, FAULT_BUG, "no chat template has the number %d", (int)kind);
}

int chat_encode(const struct tokenizer *t, enum chat kind, const char *custom,
                const char *system, const char *user, struct ids *out, struct fault *f)
{
    struct prompt_parts p = {0};
    int rc = make(&p, kind, custom, system, user, f);

    if (!rc)
        rc = encode_parts(t, p.item, p.n, out, f);
    free(p.item);
    return rc;
}

int chat_render(enum chat kind, const char *custom, const char *system,
                const char *user, struct bytes *out, struct fault *f)
{
    struct prompt_parts p = {0};
    int rc = make(&p, kind, custom, system, user, f);

    for (size_t i = 0; i < p.n && !rc; i++)
        rc = bytes_add(out, p.item[i].text, p.item[i].n, f);
    free(p.item);
    return rc;
}
