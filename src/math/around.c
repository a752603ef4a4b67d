/* around.c - what stands before and behind an answer and says nothing about its value.
 */
#include "math/parse.h"

/* -- before ------------------------------------------------------------------------ */
/* USD 36, US\$36: the letters go, a dollar stays. */
static void currency_code(struct parser *p)
{
    struct token *t = &p->tok[p->at];
    int k = 0;

    while (k < 3 && t[k].kind == T_SYMBOL && !(k && t[k].flags & F_SPACE))
        k++;
    if (k == 2 && token_is(p, t, "U") && token_is(p, t + 1, "S") &&
        t[2].kind == T_CURRENCY)
        p->at += 2;
    if (k != 3 || !token_is(p, t, "U") || !token_is(p, t + 1, "S") ||
        !token_is(p, t + 2, "D") || t[3].kind != T_NUMBER)
        return;
    t[2].kind = T_CURRENCY;
    t[2].id = '$';
    p->at += 2;
}

/* "Total: 5", "\text{Area of the square: } 4": words and a colon, the only ones. */
static void label(struct parser *p)
{
    static const char bounds[] = "not least most than more less over under except case "
                                 "between without wrong incorrect";
    int k = p->at, words = 0;

    for (; (p->tok[k].kind == T_WORD && !token_in(p, &p->tok[k], bounds)) ||
           (words && p->tok[k].flags & F_TEXT && p->tok[k].kind == T_SYMBOL);
         k++)
        words++;
    if (!words || p->tok[k++].kind != T_COLON || p->tok[k].kind == T_END)
        return;
    for (int i = k; i < p->n_tok; i++)
        if (p->tok[i].kind == T_COLON || (p->tok[i].kind == T_WORD && i == k))
            return;
    p->at = k;
}

void lead_in(struct parser *p)
{
    static const char answer_words[] =
        "answer option choice value result solution solutions point about "
        "approximately "
        "approx roughly around exactly only 答案是 答案为 答案 最终答案 最终答案是 "
        "正确答案是 正确答案为 选项 选 故选 应选 答案选 因此选 所以选 答 因此答案是 "
        "所以答案是 故答案为 约 约为 大约 大约为 约等于";
    static const char other_words[] = "so therefore thus hence the my our final "
                                      "correct is either both 所以 因此 故 即";
    int k = p->at;
    bool answer = false;

    if (token_in(p, &p->tok[k], "step") && p->tok[k + 1].kind == T_NUMBER &&
        p->tok[k + 2].kind == T_COLON)
        k += 3;
    for (bool word = true; word;) {
        word = token_in(p, &p->tok[k], answer_words);
        answer |= word;
        word |= token_in(p, &p->tok[k], other_words);
        k += word;
        while (word && (p->tok[k].kind == T_COLON || p->tok[k].kind == T_COMMA ||
                        p->tok[k].kind == T_DOT))
            k++;
    }
    if (answer && p->tok[k].kind != T_END)
        p->at = k;
    while (at_kind(p, T_IMPLIES)) /* \therefore */
        p->at++;
    if (at_kind(p, T_REL) && (peek(p)->id == REL_EQ || peek(p)->id == REL_APPROX))
        p->at++;
    label(p);
    currency_code(p);
}

/* -- behind ------------------------------------------------------------------------ */
static void cut(struct parser *p, int at)
{
    p->tok[at] = p->tok[p->n_tok];
    p->n_tok = at;
}

/* "(since x > 0)", "(approximately)", "(\approx 3.14)" at the end. */
static void bracketed_remark(struct parser *p)
{
    int open = p->n_tok - 1, depth = 0;
    const struct token *t;

    if (open < 1 || p->tok[open].kind != T_CLOSE || p->tok[open].id != ')')
        return;
    for (; open > p->at; open--) {
        depth += p->tok[open].kind == T_CLOSE  ? 1
                 : p->tok[open].kind == T_OPEN ? -1
                                               : 0;
        if (!depth)
            break;
    }
    t = &p->tok[open + 1];
    if (open > p->at && p->tok[open].id == '(' &&
        ((t->kind == T_REL && t->id == REL_APPROX) ||
         (t->kind == T_WORD && token_in(p, t,
                                        "since because as by approximately approx "
                                        "about exact exactly"))))
        cut(p, open);
}

/* Whether all tokens from k on are symbols and these words, or "\in \mathbb{R}". */
static bool only_words(const struct parser *p, int k, const char *words)
{
    for (; k < p->n_tok; k++) {
        const struct token *t = &p->tok[k];
        bool real = t->kind == T_REL && t->id == REL_IN && t[1].kind == T_BLACKBOARD &&
                    k + 5 == p->n_tok && p->s[t[3].at] == 'R';

        if (real)
            return true;
        if (t->kind != T_SYMBOL && t->kind != T_COMMA &&
            !((t->kind == T_WORD || t->kind == T_FN) && token_in(p, t, words)))
            return false;
    }
    return true;
}

/* "for all real x", "where C is a constant", "because ...": what goes without saying.
 */
static void last_remark(struct parser *p)
{
    static const char of_all[] =
        "for all any every each some real reals number numbers value "
        "values of positive integer integers natural x";
    static const char of_where[] =
        "where with is are a an the any arbitrary real integer integers constant "
        "constants number numbers";

    for (int k = p->at + 1, depth = 0; k < p->n_tok; k++) {
        const struct token *t = &p->tok[k];
        bool reason = token_in(p, t, "since because"), all, where;

        depth += t->kind == T_OPEN || t->kind == T_LBRACE    ? 1
                 : t->kind == T_CLOSE || t->kind == T_RBRACE ? -1
                                                             : 0;
        if (depth || (t->kind != T_WORD && t->kind != T_FORALL))
            continue;
        all = token_is(p, t, "for") && t[1].kind == T_WORD &&
              token_in(p, t + 1, "all any every each some integer integers");
        all |= token_is(p, t, "\\forall");
        where = token_in(p, t, "where with");
        if (!(reason || (all && only_words(p, k + 1, of_all)) ||
              (where && only_words(p, k, of_where))))
            continue;
        while (k > p->at + 1 && p->tok[k - 1].kind == T_COMMA)
            k--;
        cut(p, k);
        return;
    }
}

/* "Yes, because ...", "No, it isn't": the word. */
static void verdict(struct parser *p)
{
    static const char words[] = "yes no true false";
    const struct token *t = peek(p);

    if (t->kind == T_WORD && token_in(p, t, words) &&
        (t[1].kind == T_COMMA || t[1].kind == T_DOT) &&
        (t[2].kind == T_WORD || t[2].kind == T_FN) && !token_in(p, t + 2, words) &&
        !token_in(p, t + 2, "and or but not if unless except only when"))
        cut(p, p->at + 1);
}

void remarks(struct parser *p)
{
    verdict(p);
    bracketed_remark(p);
    last_remark(p);
}
