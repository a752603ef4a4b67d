/* fault.c - the sentence of a failure. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>

#include "dapo/fault.h"

void text_tame(char *text)
{
    for (char *p = text; *p; p++)
        if (iscntrl((unsigned char)*p))
            *p = '?';
}

int fault_set(struct fault *f, enum fault_code code, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(f->text, sizeof f->text, format, ap);
    va_end(ap);
    text_tame(f->text);
    f->code = (int)code;
    f->rank = -1;
    return (int)code;
}

const char *fault_text(int code)
{
    switch (code) {
#define X(name, status, text) \
    case status:              \
        return text;
        FAULT_LIST(X)
#undef X
    }
    return "an unknown fault";
}
