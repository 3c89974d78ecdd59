/* Texts that are too short for a context length. */
#include "needlegrid/haystack.h"

#include <string.h>

static const char *const fill_names[] = {"generate", "repeat", "shuffle", "refuse"};

enum status haystack_fill_parse(const char *name, enum haystack_fill *out, struct error *e)
{
    for (size_t i = 0; i < sizeof(fill_names) / sizeof(fill_names[0]); i++) {
        if (strcmp(fill_names[i], name) == 0) {
            *out = (enum haystack_fill)i;
            return OK;
        }
    }
    return error_set(e, ERR_USAGE,
                     "unknown haystack fill %s: it can be generate, repeat, shuffle or refuse",
                     name);
}

const char *haystack_fill_name(enum haystack_fill fill)
{
    return fill_names[fill];
}

enum status haystack_choose(const struct haystack_tokens *ht, size_t context_length,
                            enum haystack_fill fill, enum haystack_use *out, struct error *e)
{
    static const enum haystack_use uses[] = {HAYSTACK_PROSE, HAYSTACK_AS_ASKED, HAYSTACK_SHUFFLED};

    *out = HAYSTACK_AS_ASKED;
    if (haystack_windows(ht, context_length) >= HAYSTACK_MIN_WINDOWS)
        return OK;
    if (fill == FILL_REFUSE)
        return error_set(e, ERR_LIMIT,
                         "haystack %s has %zu tokens, and a context length of %zu needs %d times "
                         "as many: add text, or choose generate, repeat or shuffle",
                         haystack_tokens_name(ht), haystack_token_count(ht), context_length,
                         HAYSTACK_MIN_WINDOWS);
    *out = uses[fill];
    return OK;
}
