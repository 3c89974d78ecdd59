#include "backend_impl.h"

enum status backend_prepare(struct backend *b, size_t max_context, struct error *e)
{
    return b->prepare(b, max_context, e);
}

enum status backend_complete(struct backend *b, const struct completion_request *r,
                             struct completion *out, struct error *e)
{
    return b->complete(b, r, out, e);
}

const struct backend_info *backend_info(const struct backend *b)
{
    return &b->info;
}

void backend_close(struct backend *b)
{
    if (b)
        b->close(b);
}
