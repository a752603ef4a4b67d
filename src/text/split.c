/* split.c - cutting a text into pieces by regular expressions (PCRE2, just-in-time).
 *
 * The expressions of tokenizer.json are written for Oniguruma in Ruby's syntax.  Those
 * in use mean the same to PCRE2 with UTF and UCP, but for \s, which PCRE2 lets match
 * U+180E; it is spelled out here.  Escapes that differ otherwise are refused.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "text_impl.h"

const char split_gpt2[] = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| "
                          "?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";
const char split_qwen[] =
    "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}"
    "| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/* White_Space of Unicode, as the inside of a set. */
#define SPACE                                                                       \
    "\\t-\\r \\x{85}\\x{A0}\\x{1680}\\x{2000}-\\x{200A}\\x{2028}\\x{2029}\\x{202F}" \
    "\\x{205F}\\x{3000}"

/* Append the PCRE2 form of the escape \c. */
static int translate_escape(struct bytes *out, char c, bool in_set, const char *where,
                            struct fault *f)
{
    char plain[2] = {'\\', c};

    if (c == 's')
        return bytes_printf(out, f, in_set ? "%s" : "[%s]", SPACE);
    if (c == 'S' && !in_set)
        return bytes_printf(out, f, "[^%s]", SPACE);
    if (c == '\0' || strchr("SwWbBhHRXGQE", c))
        return fault_set(f, FAULT_DATA,
                         "%s: the regular expression has \\%c%s, which isn't supported",
                         where, c, in_set ? " in a set" : "");
    return bytes_add(out, plain, 2, f);
}

static int translate(struct bytes *out, const char *s, size_t n, const char *where,
                     struct fault *f)
{
    bool in_set = false;
    int rc = 0;

    for (size_t i = 0; i < n && !rc; i++) {
        if (s[i] == '\\') {
            i++;
            rc = translate_escape(out, i < n ? s[i] : '\0', in_set, where, f);
            continue;
        }
        if (in_set && s[i] == '[')
            return fault_set(
                f, FAULT_DATA,
                "%s: the regular expression has a set in a set, which isn't "
                "supported",
                where);
        if (!in_set && s[i] == '[') {
            in_set = true;
            /* A ] in first place stands for itself. */
            if (i + 1 < n && s[i + 1] == '^')
                rc = bytes_add(out, &s[i++], 1, f);
            if (!rc && i + 1 < n && s[i + 1] == ']')
                rc = bytes_add(out, &s[i++], 1, f);
        } else if (s[i] == ']') {
            in_set = false;
        }
        if (!rc)
            rc = bytes_add(out, &s[i], 1, f);
    }
    return rc;
}

static int compile(void **out, const struct bytes *pattern, const char *where,
                   struct fault *f)
{
    pcre2_compile_context *c = pcre2_compile_context_create(NULL);
    PCRE2_UCHAR text[160];
    PCRE2_SIZE at = 0;
    int error = 0;

    if (!c)
        return fault_set(f, FAULT_SYSTEM, "no memory for a regular expression");
    pcre2_set_newline(c, PCRE2_NEWLINE_LF);
    *out =
        pcre2_compile((PCRE2_SPTR)pattern->data, pattern->len,
                      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C,
                      &error, &at, c);
    pcre2_compile_context_free(c);
    if (!*out) {
        pcre2_get_error_message(error, text, sizeof text);
        return fault_set(f, FAULT_DATA, "%s: bad regular expression: %s", where,
                         (const char *)text);
    }
    /* Without a compiler for this machine the interpreter does the same, slower. */
    pcre2_jit_compile(*out, PCRE2_JIT_COMPLETE);
    return 0;
}

int splitter_add(struct splitter *s, const char *pattern, size_t n, const char *where,
                 struct fault *f)
{
    struct bytes made = {0};
    int rc;

    if (s->n == SPLIT_MOST)
        return fault_set(f, FAULT_DATA, "%s: more than %d regular expressions", where,
                         SPLIT_MOST);
    if (n == 0)
        return fault_set(f, FAULT_DATA, "%s: the regular expression is empty", where);
    rc = translate(&made, pattern, n, where, f);
    if (!rc)
        rc = compile(&s->code[s->n], &made, where, f);
    if (!rc) {
        s->n++;
        s->hash = hash64(pattern, n, s->hash + 1);
    }
    bytes_free(&made);
    return rc;
}

void splitter_free(struct splitter *s)
{
    for (int i = 0; i < s->n; i++)
        pcre2_code_free(s->code[i]);
    *s = (struct splitter){0};
}

struct run {
    const struct splitter *s;
    pcre2_match_data *match;
    piece_taker *take;
    void *with;
};

/* Next match at or after `from`: *begin and *end, or *begin = n if there is none. */
static int next_match(const struct run *r, int level, const char *text, size_t n,
                      size_t from, size_t *begin, size_t *end, struct fault *f)
{
    const pcre2_code *code = r->s->code[level];
    PCRE2_SPTR s = (PCRE2_SPTR)text;
    PCRE2_UCHAR why[160];
    PCRE2_SIZE *span;
    int rc = pcre2_match(code, s, n, from, PCRE2_NO_UTF_CHECK, r->match, NULL);

    /* Deep backtracking that the compiled code has no stack for. */
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
        rc = pcre2_match(code, s, n, from, PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, r->match,
                         NULL);
    span = pcre2_get_ovector_pointer(r->match);
    *begin = n;
    *end = n;
    if (rc == PCRE2_ERROR_NOMATCH)
        return 0;
    if (rc >= 0 && (span[0] < from || span[1] < span[0] || span[1] > n))
        return fault_set(f, FAULT_DATA,
                         "the tokenizer's regular expression matches backwards; "
                         "lookaround with \\K isn't supported");
    if (rc < 0) {
        pcre2_get_error_message(rc, why, sizeof why);
        return fault_set(f, FAULT_DATA,
                         "the tokenizer's regular expression gave up on a text of %zu "
                         "bytes: %s",
                         n, (const char *)why);
    }
    *begin = span[0];
    *end = span[1];
    return 0;
}

/* Matches and the gaps between them go on to the next expression; as deep as there are
 * expressions. */
static int run_level(const struct run *r, int level, const char *text, size_t n,
                     struct fault *f)
{
    size_t done = 0, from = 0, begin, end;
    int32_t point;
    int rc = 0;

    if (level == r->s->n)
        return n ? r->take(r->with, text, n, f) : 0;
    while (done < n) {
        if ((rc = next_match(r, level, text, n, from, &begin, &end, f)))
            return rc;
        if (begin > done &&
            (rc = run_level(r, level + 1, text + done, begin - done, f)))
            return rc;
        if (end > begin && (rc = run_level(r, level + 1, text + begin, end - begin, f)))
            return rc;
        done = from = end;
        if (end == begin && end < n) /* an empty match: cut here, look further on */
            from += utf8_next(text, n, end, &point);
    }
    return 0;
}

int splitter_run(const struct splitter *s, const char *text, size_t n,
                 piece_taker *take, void *with, struct fault *f)
{
    struct run r = {s, pcre2_match_data_create(1, NULL), take, with};
    int rc;

    if (!r.match)
        return fault_set(f, FAULT_SYSTEM,
                         "no memory for matching a regular expression");
    rc = run_level(&r, 0, text, n, f);
    pcre2_match_data_free(r.match);
    return rc;
}
