/* clean.h - private: what is done to a question's text. */
#ifndef DAPO_DATA_CLEAN_H
#define DAPO_DATA_CLEAN_H

#include <stdbool.h>
#include "dapo/fault.h"

/* The wrapper of the official data set. */
extern const char CLEAN_PREFIX[], CLEAN_SUFFIX[];

/* Take the wrapper (where the text starts with prefix, ends with suffix) and then white
 * space off both ends, in place.  Whether a wrapper was there. */
bool clean_unwrap(char *text, const char *prefix, const char *suffix);
/* Take white space off both ends, in place. */
void clean_trim(char *text);
/* Python's " ".join(text.split()) as a new string; NULL with FAULT_SYSTEM. */
char *clean_key(const char *text, struct fault *f);

#endif
