/*
 * Any bytes as a prompt template. What is taken must draw and fill without a field left over.
 */
#include "needlegrid/template.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct prompt_template *t;
    struct buf out = BUF_INIT(1 << 24);
    struct error e = {OK, ""};
    struct needle n;

    if (template_parse(&t, (const char *)data, size, "fuzz.json", &e) != OK) {
        if (t || e.code == OK || e.message[0] == '\0')
            abort();
        return 0;
    }
    n = template_draw(t, NULL, size, 0);
    template_fill(&out, t->needle, &n);
    template_fill(&out, t->question, &n);
    template_fill(&out, t->answer_prefix, &n);
    if (strlen(n.value) != (size_t)t->value_digits || strchr(buf_str(&out), '{') ||
        !strstr(buf_str(&out), n.value))
        abort();
    buf_release(&out);
    template_free(t);
    return 0;
}
